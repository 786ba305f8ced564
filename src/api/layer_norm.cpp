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
  call.x = args.x;
  call.gamma = args.gamma;
  call.beta = args.beta;
  call.form.eps = args.eps;
  call.y = args.y;
  call.statistics = in_one_form(args.statistics);
  const Status status = check_call(call);
  return status.ok() ? run(call, context) : status;
}

Status layer_norm_backward(const LayerNormBackward& args, Context& context) noexcept {
  BackwardCall call;
  call.dy = args.dy;
  call.x = args.x;
  call.gamma = args.gamma;
  call.form.eps = args.eps;
  call.statistics = in_one_form(args.statistics);
  call.dx = args.dx;
  call.dgamma = args.dgamma;
  call.dbeta = args.dbeta;
  const Status status = check_call(call);
  return status.ok() ? run(call, context) : status;
}

}  // namespace equinorm
