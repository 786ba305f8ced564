// Numbers as an array of any element type, for commands that take numbers as text.
// Not a kernel: one value at a time, rounded once to nearest even.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "equinorm/types.hpp"

namespace equinorm::cli {

/// "f64", "f32", "f16" or "bf16"; throws UsageError naming the text otherwise.
DType parse_dtype(const std::string& text);

/// `value` rounded to `dtype`; infinite where it lies beyond the largest finite value.
double round_to(DType dtype, double value) noexcept;

/// Largest finite value of `dtype`.
double largest(DType dtype) noexcept;

/// Owns `size()` elements of `dtype`.
class DTypeBuffer {
 public:
  DTypeBuffer(DType dtype, std::size_t size);
  DTypeBuffer(DType dtype, std::span<const double> values);

  [[nodiscard]] std::vector<double> values() const;
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  [[nodiscard]] Rows row() noexcept;
  [[nodiscard]] Vector vector() noexcept;

 private:
  DType dtype_;
  std::size_t size_;
  std::vector<std::uint64_t> words_;  // 8-byte alignment for every type
};

}  // namespace equinorm::cli
