// The public entry points of every form of row norm.
#include "equinorm/row_norm.hpp"

#include <algorithm>
#include <cmath>

#include "norm_call.h"

namespace equinorm {

Status row_norm_forward(const RowNormForward& args, Context& context) noexcept {
  ForwardCall call;
  call.form = args.form;
  call.x = args.x;
  call.gamma = args.gamma;
  call.beta = args.beta;
  call.y = args.y;
  const Status status = check_call(call);
  return status.ok() ? run(call, context) : status;
}

Status row_norm_backward(const RowNormBackward& args, Context& context) noexcept {
  BackwardCall call;
  call.form = args.form;
  call.dy = args.dy;
  call.x = args.x;
  call.gamma = args.gamma;
  call.dx = args.dx;
  call.dgamma = args.dgamma;
  call.dbeta = args.dbeta;
  const Status status = check_call(call);
  return status.ok() ? run(call, context) : status;
}

kernels::RowForm kernel_form(const NormCall& call) noexcept {
  const RowForm& from = call.form;
  kernels::RowForm form;
  form.spread = static_cast<kernels::Spread>(from.spread);
  form.unbiased = from.unbiased;
  form.detach_mean = from.detach_mean;
  form.detach_spread = from.detach_spread;
  form.eps = from.eps;
  const double part = std::ceil(from.part * static_cast<double>(call.x.cols));
  form.part = from.part == 1 ? call.x.cols : std::min(static_cast<std::int64_t>(part), call.x.cols);
  return form;
}

}  // namespace equinorm
