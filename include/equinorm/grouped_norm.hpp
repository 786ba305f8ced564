// The operator behind all others: a form of row norm over rows that lie anywhere in memory, in
// groups that may have parameters and statistics of their own.
//
// GroupNorm, BatchNorm, LayerNorm over channels, adaLN's modulation and norms of attention heads
// are arrangements of rows (images.hpp, heads.hpp, modulation.hpp); use this header for one that
// has no name yet. The one trap: a row is what is normalized, whatever its elements are called
// elsewhere. In BatchNorm a channel is a row.
#pragma once

#include "equinorm/context.hpp"
#include "equinorm/row_norm.hpp"
#include "equinorm/status.hpp"
#include "equinorm/types.hpp"

namespace equinorm {

/// Where the elements of rows lie, in elements: (g, r, c), row r of group g, column c, at
///   g * group_stride + r * row_stride + (c / run) * run_stride + (c % run) * column_stride.
struct Arrangement {
  std::int64_t groups = 1;
  std::int64_t rows = 0;  ///< of each group
  std::int64_t cols = 0;
  std::int64_t group_stride = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;
  std::int64_t run = 0;  ///< columns before a jump of run_stride; 0: all
  std::int64_t run_stride = 0;
};

/// Read-only elements. data may be null only where there is no element.
struct ConstGroupedRows {
  const void* data = nullptr;
  DType dtype = DType::f32;
  Arrangement at;
};

/// Writable elements, none of which may lie where another does.
struct GroupedRows {
  void* data = nullptr;
  DType dtype = DType::f32;
  Arrangement at;

  operator ConstGroupedRows() const noexcept { return {data, dtype, at}; }
};

/// Parameters of groups; data == nullptr means "not given". A group has `size` of them: one per
/// column, or where group_stride is not 0 any divisor of the columns; parameter k is then that of
/// the columns [k cols / size, (k + 1) cols / size).
struct ConstGroupedVector {
  const void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t size = 0;
  std::int64_t group_stride = 0;  ///< elements from group to group; 0: all share one
};

/// Gradients of them; data == nullptr means "not wanted".
struct GroupedVector {
  void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t size = 0;
  std::int64_t group_stride = 0;

  operator ConstGroupedVector() const noexcept { return {data, dtype, size, group_stride}; }
};

/// Rows in one group, and vectors that all groups share.
[[nodiscard]] constexpr ConstGroupedRows grouped(const ConstRows& r) noexcept {
  return {r.data, r.dtype, {1, r.rows, r.cols, 0, r.row_stride, 1, 0, 0}};
}
[[nodiscard]] constexpr GroupedRows grouped(const Rows& r) noexcept {
  return {r.data, r.dtype, {1, r.rows, r.cols, 0, r.row_stride, 1, 0, 0}};
}
[[nodiscard]] constexpr ConstGroupedVector grouped(const ConstVector& v) noexcept {
  return {v.data, v.dtype, v.size, 0};
}
[[nodiscard]] constexpr GroupedVector grouped(const Vector& v) noexcept {
  return {v.data, v.dtype, v.size, 0};
}
/// What is grouped already.
[[nodiscard]] constexpr ConstGroupedRows grouped(const ConstGroupedRows& r) noexcept { return r; }
[[nodiscard]] constexpr GroupedRows grouped(const GroupedRows& r) noexcept { return r; }
[[nodiscard]] constexpr ConstGroupedVector grouped(const ConstGroupedVector& v) noexcept {
  return v;
}
[[nodiscard]] constexpr GroupedVector grouped(const GroupedVector& v) noexcept { return v; }

/// Mean and variance to normalize with instead of those of the rows, groups elements each; both or
/// neither. The gradient takes them as constant. Every element is then on its own, in f64 for all
/// types: one that is not finite spoils no other. Not for forms with a part, a length or an
/// adaptive gain.
struct GivenStatistics {
  ConstVector mean;  ///< not for forms that are not centred
  ConstVector variance;
};

/// Arguments of grouped_norm_forward. Shapes: y as x; gamma and beta of one size.
struct GroupedNormForward {
  RowForm form;
  ConstGroupedRows x;
  ConstGroupedVector gamma;
  ConstGroupedVector beta;
  GivenStatistics given;
  GroupedRows y;
  /// The rows' mean (centred forms) and mean square deviation in f64, groups * rows elements each;
  /// optional, both or neither.
  Vector mean;
  Vector variance;
};

/// y = xhat * gain + beta as row_norm_forward, row by row, whose bits it gives where each column
/// has a parameter of its own. Types and bounds as row_norm_forward. y may be x itself, in the same
/// arrangement; nothing else may overlap an output. Errors: invalid_argument names the argument and
/// the rule; outputs are untouched.
Status grouped_norm_forward(const GroupedNormForward& args, Context& context) noexcept;

/// Arguments of grouped_norm_backward. dgamma and dbeta have the size and the groups of gamma (of
/// beta, where only that is there): sums over the rows of a group and over the columns that share
/// the parameter, and over groups too where all share one.
struct GroupedNormBackward {
  RowForm form;
  ConstGroupedRows dy;
  ConstGroupedRows x;
  ConstGroupedVector gamma;
  GivenStatistics given;
  GroupedRows dx;
  GroupedVector dgamma;
  GroupedVector dbeta;
};

/// Formula, types, bounds and aliasing as row_norm_backward.
Status grouped_norm_backward(const GroupedNormBackward& args, Context& context) noexcept;

}  // namespace equinorm
