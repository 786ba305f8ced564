// Which elements dropout keeps: Philox4x32-10 (Salmon 2011), docs/numerics.md section 8.
//
// Integers only, so one build serves all instruction sets. The trap: elements are numbered in the
// whole call, row by row, wherever they lie in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace equinorm::kernels {

using Words = std::array<std::uint32_t, 4>;

/// The four random words of a counter.
Words philox(Words counter, std::array<std::uint32_t, 2> key) noexcept;

struct Dropout {
  bool on = false;
  std::uint64_t threshold = 0;  ///< words of at least this are kept; 2^32: none are
  double scale = 1;             ///< of what is kept
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
};

/// to[i] = scale or 0 for element first + i.
void keep_row(const Dropout& dropout, std::int64_t first, std::size_t n, float* to) noexcept;
void keep_row(const Dropout& dropout, std::int64_t first, std::size_t n, double* to) noexcept;

}  // namespace equinorm::kernels
