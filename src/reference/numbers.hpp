// Elements in memory and the numbers they stand for: section 1 of docs/numerics.md.
//
// Every type is a subset of double, so all loads give a double and all stores take one. The one
// trap: a store rounds once, from the type in which the value was computed, so nobody may round to
// float on the way to f16 or bf16.
#pragma once

#include <cmath>
#include <cstdint>

#include "equinorm/types.hpp"

namespace equinorm::reference {

/// Element `index` of the buffer, exactly.
double load(const void* data, DType type, std::int64_t index);

/// Rounds to nearest even and writes element `index`; a NaN becomes the canonical one.
void store(void* data, DType type, std::int64_t index, double value);

/// The 16 bits of f16 or bf16 nearest to `value`, ties to even.
std::uint16_t round_to_16_bits(double value, DType type);

/// The largest integer e with 2^e <= |a|; a is finite and not 0.
inline int exponent_of(double a) { return std::ilogb(a); }

/// Calls body(C{}) with the compute type C.
template <class Body>
void with_compute_type(DType c, Body body) {
  if (c == DType::f64) {
    body(double{});
  } else {
    body(float{});
  }
}

}  // namespace equinorm::reference
