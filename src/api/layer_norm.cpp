// LayerNorm's public entry points.
#include "equinorm/layer_norm.hpp"

#include "norm_call.h"

namespace equinorm {
namespace {

NormStatistics in_one_form(const LayerNormStatistics& s) noexcept {
  return {s.mean, s.mean_tail, s.rstd, s.exact};
}

}  // namespace

Status layer_norm_forward(const LayerNormForward& args, Context& context) noexcept {
  ForwardCall call;
  call.x = grouped(args.x);
  call.gamma = grouped(args.gamma);
  call.beta = grouped(args.beta);
  call.form.eps = args.eps;
  call.y = grouped(args.y);
  call.statistics = in_one_form(args.statistics);
  const Status status = check_call(call);
  return status.ok() ? run(call, context) : status;
}

Status layer_norm_backward(const LayerNormBackward& args, Context& context) noexcept {
  BackwardCall call;
  call.dy = grouped(args.dy);
  call.x = grouped(args.x);
  call.gamma = grouped(args.gamma);
  call.form.eps = args.eps;
  call.statistics = in_one_form(args.statistics);
  call.dx = grouped(args.dx);
  call.dgamma = grouped(args.dgamma);
  call.dbeta = grouped(args.dbeta);
  const Status status = check_call(call);
  return status.ok() ? run(call, context) : status;
}

}  // namespace equinorm
