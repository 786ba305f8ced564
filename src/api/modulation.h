// Parameters that come with groups of rows following each other: scale, shift and gate.
#pragma once

#include <algorithm>

#include "check.h"
#include "norm_call.h"
#include "return_if_bad.h"

namespace equinorm {

inline Status check_rows_per_group(const ConstRows& x, std::int64_t rows_per_group) noexcept {
  if (rows_per_group >= 1 && x.rows % rows_per_group == 0) return {};
  return invalid("rows_per_group", Value(rows_per_group), "must be at least 1 and divide x.rows");
}

/// One row per group, of x's columns.
inline Status check_groups(const ConstRows& v, const ConstRows& x, std::int64_t rows_per_group,
                           const ViewNames& names) noexcept {
  if (v.data == nullptr) return {};
  EQUINORM_RETURN_IF_BAD(check_rows(grouped(v), names));
  if (v.rows != x.rows / rows_per_group) {
    return invalid(names.rows, Value(v.rows), "must equal x.rows / rows_per_group");
  }
  if (v.cols != x.cols) return invalid(names.cols, Value(v.cols), "must equal x.cols");
  if (v.rows > 1 && v.cols > 0 && v.row_stride == 0) {
    return invalid(names.row_stride, Value(v.row_stride), "must not be 0: each group has its own");
  }
  return {};
}

template <class View>
auto in_groups(const View& v, std::int64_t rows_per_group) noexcept {
  auto rows = grouped(v);
  rows.at.groups = v.rows / rows_per_group;
  rows.at.rows = rows_per_group;
  rows.at.group_stride = rows_per_group * v.row_stride;
  return rows;
}

/// The stride of a single group is never used, but 0 would say that all share it.
inline std::int64_t group_stride(const ConstRows& v) noexcept {
  return v.rows > 1 && v.row_stride != 0 ? v.row_stride : std::max<std::int64_t>(v.cols, 1);
}
inline ConstGroupedVector group_parameter(const ConstRows& v) noexcept {
  return {v.data, v.dtype, v.cols, group_stride(v)};
}
inline GroupedVector group_parameter(const Rows& v) noexcept {
  return {v.data, v.dtype, v.cols, group_stride(v)};
}

/// The form with a gain of 1 + scale.
inline RowForm modulated(RowForm form) noexcept {
  form.gain = Gain::one_plus;
  return form;
}

}  // namespace equinorm
