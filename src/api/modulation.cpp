// adaLN's modulation: a gain of 1 + scale and a shift for each group of rows.
#include "equinorm/modulation.hpp"

#include "check.h"
#include "modulation.h"
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
  call.gamma = group_parameter(args.scale);
  call.beta = group_parameter(args.shift);
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
  call.gamma = group_parameter(args.scale);
  call.dgamma = group_parameter(args.dscale);
  call.dbeta = group_parameter(args.dshift);
  EQUINORM_RETURN_IF_BAD(check_call(call));
  return run(call, context);
}

}  // namespace equinorm
