// Rows in memory, laid out as a test wants them, between guard bytes.
//
// The one trap: every byte that is not an element is 0xff, and so is every element until it is
// written, which is a NaN in all types: what a kernel forgets or writes beside its rows shows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "equinorm/types.hpp"

namespace equinorm::conformance {

/// Where elements lie: the first one `offset` elements after a 64-byte boundary, `gap` unused
/// elements between rows, rows from the last to the first if `reversed`.
struct Layout {
  int offset = 0;
  std::int64_t gap = 0;
  bool reversed = false;

  bool operator==(const Layout&) const = default;
};

class Buffer {
 public:
  Buffer() = default;
  Buffer(DType type, std::int64_t rows, std::int64_t cols, const Layout& layout);
  Buffer(Buffer&&) = default;
  Buffer& operator=(Buffer&&) = default;

  [[nodiscard]] Rows rows();
  /// Of a buffer with one row.
  [[nodiscard]] Vector vector();

  /// Row by row; each value must exist in the type.
  void set(std::span<const double> values);
  /// Bits of the elements, row by row.
  [[nodiscard]] std::vector<std::uint64_t> bits() const;

  /// True while every byte outside the elements is 0xff.
  [[nodiscard]] bool guards_intact() const;
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  [[nodiscard]] std::int64_t element(std::int64_t r, std::int64_t c) const;

  DType type_ = DType::f32;
  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
  std::int64_t stride_ = 0;
  std::int64_t first_ = 0;  // bytes before element (0, 0)
  std::vector<std::uint8_t> bytes_;
};

}  // namespace equinorm::conformance
