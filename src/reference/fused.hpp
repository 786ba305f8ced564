// What the contract and the truth of a fused norm have in common: its types, groups and rows.
//
// The one trap: without a gate, a scale or a shift all rows are one group.
#pragma once

#include <algorithm>

#include "equinorm/fused_norm.hpp"

namespace equinorm::reference {

/// f64 where one of the rows that are given is.
template <class... Rows>
DType widest(const Rows&... rows) {
  const bool wide = (... || (rows.data != nullptr && rows.dtype == DType::f64));
  return wide ? DType::f64 : DType::f32;
}
inline DType compute_type_of(const FusedNormForward& args) {
  return widest(args.x, args.residual, args.stream, args.y);
}
inline DType compute_type_of(const FusedNormBackward& args) {
  return widest(args.stream, args.dy, args.dstream, args.x, args.dx, args.dresidual);
}

inline bool in_groups(const FusedParameters& p) {
  return p.scale.data != nullptr || p.shift.data != nullptr || p.gate.data != nullptr;
}
inline bool in_groups(const FusedNormBackward& args) {
  return in_groups(args.parameters) || args.dscale.data != nullptr || args.dshift.data != nullptr ||
         args.dgate.data != nullptr;
}

/// Rows of a group.
inline std::int64_t rows_of_group(const FusedParameters& p, bool groups, std::int64_t rows) {
  return groups ? p.rows_per_group : std::max<std::int64_t>(rows, 1);
}

/// The same rows, `each` in a group.
inline Arrangement in_groups_of(std::int64_t each, const ConstRows& v) {
  return {v.rows / each, each, v.cols, each * v.row_stride, v.row_stride, 1, 0, 0};
}
inline ConstGroupedRows rows_of(const ConstRows& v, std::int64_t each) {
  return {v.data, v.dtype, in_groups_of(each, v)};
}
inline GroupedRows rows_of(const Rows& v, std::int64_t each) {
  return {v.data, v.dtype, in_groups_of(each, v)};
}

/// Rows as parameters of groups.
inline std::int64_t stride_of(const ConstRows& v) { return v.rows > 1 ? v.row_stride : v.cols; }
inline ConstGroupedVector vector_of(const ConstRows& v) {
  return {v.data, v.dtype, v.cols, stride_of(v)};
}
inline GroupedVector vector_of(const Rows& v) { return {v.data, v.dtype, v.cols, stride_of(v)}; }

inline RowForm form_of(const RowForm& form, bool groups) {
  RowForm result = form;
  if (groups) result.gain = Gain::one_plus;
  return result;
}

}  // namespace equinorm::reference
