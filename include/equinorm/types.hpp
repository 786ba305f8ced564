// Value types shared by every operator: element types, strided row views, parameter vectors.
//
// These are views: they own nothing and copy nothing. The one trap: row_stride counts elements,
// not bytes, and the last axis is always contiguous.
#pragma once

#include <cstddef>
#include <cstdint>

namespace equinorm {

/// Version of the numerics contract (docs/numerics.md). Results for the same input are the same
/// bits in every build that reports the same number.
inline constexpr int kNumericsVersion = 1;

/// Element type of a buffer. f16 is IEEE binary16, bf16 the upper half of an IEEE binary32; both
/// are held as 16-bit words.
enum class DType : std::uint8_t { f64, f32, f16, bf16 };

/// Bytes of one element.
[[nodiscard]] constexpr std::size_t size_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::f64:
      return 8;
    case DType::f32:
      return 4;
    case DType::f16:
    case DType::bf16:
      return 2;
  }
  return 0;
}

/// "f64", "f32", "f16" or "bf16"; "unknown" for a value outside the enumeration.
[[nodiscard]] const char* name_of(DType dtype) noexcept;

/// The type in which an operator computes (C in docs/numerics.md): f64 when x or the output (or
/// its gradient) is f64, otherwise f32.
[[nodiscard]] constexpr DType compute_type(DType x, DType y) noexcept {
  return x == DType::f64 || y == DType::f64 ? DType::f64 : DType::f32;
}

/// Read-only rows: element (r, c) is at data + (r * row_stride + c) elements, 0 <= r < rows,
/// 0 <= c < cols. row_stride may be anything, 0 (one row repeated) and negative included. data may
/// be null only when rows or cols is 0.
struct ConstRows {
  const void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 0;
};

/// Writable rows, laid out as ConstRows. Rows may not overlap each other: |row_stride| >= cols
/// when there is more than one row.
struct Rows {
  void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 0;

  operator ConstRows() const noexcept { return {data, dtype, rows, cols, row_stride}; }
};

/// Read-only contiguous vector; data == nullptr means "not given".
struct ConstVector {
  const void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t size = 0;
};

/// Writable contiguous vector; data == nullptr means "not wanted".
struct Vector {
  void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t size = 0;

  operator ConstVector() const noexcept { return {data, dtype, size}; }
};

}  // namespace equinorm
