// adaLN's modulation: a gain of 1 + scale and a shift for each group of rows.
#include "equinorm/modulation.hpp"

#include "check.h"
#include "norm_call.h"
#include "return_if_bad.h"

namespace equinorm {
namespace {

constexpr ViewNames kX = EQUINORM_VIEW_NAMES("x");
constexpr ViewNames kY = EQUINORM_VIEW_NAMES("y");
constexpr ViewNames kDy = EQUINORM_VIEW_NAMES("dy");
constexpr ViewNames kDx = EQUINORM_VIEW_NAMES("dx");
constexpr ViewNames kScale = EQUINORM_VIEW_NAMES("scale");
constexpr ViewNames kShift = EQUINORM_VIEW_NAMES("shift");
constexpr ViewNames kDscale = EQUINORM_VIEW_NAMES("dscale");
constexpr ViewNames kDshift = EQUINORM_VIEW_NAMES("dshift");

Status check_rows_per_group(const ConstRows& x, std::int64_t rows_per_group) noexcept {
  if (rows_per_group >= 1 && x.rows % rows_per_group == 0) return {};
  return invalid("rows_per_group", Value(rows_per_group), "must be at least 1 and divide x.rows");
}

/// One row per group, of x's columns.
Status check_groups(const ConstRows& v, const ConstRows& x, std::int64_t rows_per_group,
                    const ViewNames& names) noexcept {
  if (v.data == nullptr) return {};
  EQUINORM_RETURN_IF_BAD(check_rows(grouped(v), names));
  if (v.rows != x.rows / rows_per_group) {
    return invalid(names.rows, Value(v.rows), "must equal x.rows / rows_per_group");
  }
  if (v.cols != x.cols) return invalid(names.cols, Value(v.cols), "must equal x.cols");
  if (v.rows > 1 && v.row_stride == 0) {
    return invalid(names.row_stride, Value(v.row_stride), "must not be 0");
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
std::int64_t group_stride(const ConstRows& v) noexcept {
  return v.rows > 1 ? v.row_stride : v.cols;
}

ConstGroupedVector parameter(const ConstRows& v) noexcept {
  return {v.data, v.dtype, v.cols, group_stride(v)};
}
GroupedVector parameter(const Rows& v) noexcept {
  return {v.data, v.dtype, v.cols, group_stride(v)};
}

RowForm modulated(RowForm form) noexcept {
  form.gain = Gain::one_plus;
  return form;
}

}  // namespace

Status modulated_norm_forward(const ModulatedNormForward& args, Context& context) noexcept {
  const std::int64_t each = args.rows_per_group;
  EQUINORM_RETURN_IF_BAD(check_rows(grouped(args.x), kX));
  EQUINORM_RETURN_IF_BAD(check_output_rows(grouped(args.y), kY));
  EQUINORM_RETURN_IF_BAD(check_same_shape(grouped(args.y), grouped(args.x), kY));
  EQUINORM_RETURN_IF_BAD(check_rows_per_group(args.x, each));
  EQUINORM_RETURN_IF_BAD(check_groups(args.scale, args.x, each, kScale));
  EQUINORM_RETURN_IF_BAD(check_groups(args.shift, args.x, each, kShift));
  ForwardCall call;
  call.form = modulated(args.form);
  call.x = in_groups(args.x, each);
  call.y = in_groups(args.y, each);
  call.gamma = parameter(args.scale);
  call.beta = parameter(args.shift);
  EQUINORM_RETURN_IF_BAD(check_call(call));
  return run(call, context);
}

Status modulated_norm_backward(const ModulatedNormBackward& args, Context& context) noexcept {
  const std::int64_t each = args.rows_per_group;
  EQUINORM_RETURN_IF_BAD(check_rows(grouped(args.x), kX));
  EQUINORM_RETURN_IF_BAD(check_rows(grouped(args.dy), kDy));
  EQUINORM_RETURN_IF_BAD(check_same_shape(grouped(args.dy), grouped(args.x), kDy));
  EQUINORM_RETURN_IF_BAD(check_rows_per_group(args.x, each));
  EQUINORM_RETURN_IF_BAD(check_groups(args.scale, args.x, each, kScale));
  EQUINORM_RETURN_IF_BAD(check_groups(args.dscale, args.x, each, kDscale));
  EQUINORM_RETURN_IF_BAD(check_groups(args.dshift, args.x, each, kDshift));
  BackwardCall call;
  call.form = modulated(args.form);
  call.dy = in_groups(args.dy, each);
  call.x = in_groups(args.x, each);
  if (args.dx.data != nullptr) {
    EQUINORM_RETURN_IF_BAD(check_output_rows(grouped(args.dx), kDx));
    EQUINORM_RETURN_IF_BAD(check_same_shape(grouped(args.dx), grouped(args.x), kDx));
    call.dx = in_groups(args.dx, each);
  }
  call.gamma = parameter(args.scale);
  call.dgamma = parameter(args.dscale);
  call.dbeta = parameter(args.dshift);
  EQUINORM_RETURN_IF_BAD(check_call(call));
  return run(call, context);
}

}  // namespace equinorm
