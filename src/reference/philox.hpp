// Philox4x32-10 (Salmon 2011) as its paper states it, and what dropout makes of it: section 8 of
// docs/numerics.md.
//
// The one trap: multiplications are of 32 bits to 64.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "equinorm/fused_norm.hpp"

namespace equinorm::reference {

using Counter = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;

inline Counter philox(Counter c, Key k) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(p0)};
    k = {k[0] + 0x9E3779B9u, k[1] + 0xBB67AE85u};
  }
  return c;
}

/// Whether element `index` of a call is kept.
inline bool is_kept(const Dropout& dropout, std::uint64_t index) {
  if (dropout.p == 0) return true;
  const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  const auto high = [](std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); };
  const std::uint64_t block = index / 4;
  const Counter words = philox({low(dropout.offset), high(dropout.offset), low(block), high(block)},
                               {low(dropout.seed), high(dropout.seed)});
  return static_cast<double>(words[index % 4]) >= std::ldexp(dropout.p, 32);
}

inline double kept_scale(const Dropout& dropout) {
  return dropout.p < 1 ? 1.0 / (1.0 - dropout.p) : 0.0;
}

}  // namespace equinorm::reference
