// RMSNorm's public entry points.
#include "equinorm/rms_norm.hpp"

#include "check.h"
#include "norm_call.h"

namespace equinorm {
namespace {

NormStatistics in_one_form(const RmsNormStatistics& s) noexcept {
  return {{}, {}, s.rstd, s.exact};
}

RowForm form_of(bool add_one, double eps) noexcept {
  RowForm form;
  form.centered = false;
  form.gain = add_one ? Gain::one_plus : Gain::vector;
  form.eps = eps;
  return form;
}

Status check_add_one(bool add_one, const ConstVector& gamma, const ConstRows& x) noexcept {
  if (!add_one || gamma.data != nullptr || x.cols == 0) return {};
  return invalid("add_one", Value("true"), "needs gamma");
}

}  // namespace

Status rms_norm_forward(const RmsNormForward& args, Context& context) noexcept {
  ForwardCall call;
  call.x = grouped(args.x);
  call.gamma = grouped(args.gamma);
  call.form = form_of(args.add_one, args.eps);
  call.y = grouped(args.y);
  call.statistics = in_one_form(args.statistics);
  Status status = check_call(call);
  if (status.ok()) status = check_add_one(args.add_one, args.gamma, args.x);
  return status.ok() ? run(call, context) : status;
}

Status rms_norm_backward(const RmsNormBackward& args, Context& context) noexcept {
  BackwardCall call;
  call.dy = grouped(args.dy);
  call.x = grouped(args.x);
  call.gamma = grouped(args.gamma);
  call.form = form_of(args.add_one, args.eps);
  call.statistics = in_one_form(args.statistics);
  call.dx = grouped(args.dx);
  call.dgamma = grouped(args.dgamma);
  Status status = check_call(call);
  if (status.ok()) status = check_add_one(args.add_one, args.gamma, args.x);
  return status.ok() ? run(call, context) : status;
}

}  // namespace equinorm
