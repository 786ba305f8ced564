// RMSNorm's public entry points.
#include "equinorm/rms_norm.hpp"

#include "norm_call.h"

namespace equinorm {
namespace {

NormStatistics in_one_form(const RmsNormStatistics& s) noexcept {
  return {{}, {}, s.rstd, s.exact};
}

}  // namespace

Status rms_norm_forward(const RmsNormForward& args, Context& context) noexcept {
  ForwardCall call;
  call.x = args.x;
  call.gamma = args.gamma;
  call.add_one = args.add_one;
  call.eps = args.eps;
  call.y = args.y;
  call.statistics = in_one_form(args.statistics);
  const Status status = check_call(call);
  return status.ok() ? run(call, context) : status;
}

Status rms_norm_backward(const RmsNormBackward& args, Context& context) noexcept {
  BackwardCall call;
  call.dy = args.dy;
  call.x = args.x;
  call.gamma = args.gamma;
  call.add_one = args.add_one;
  call.eps = args.eps;
  call.statistics = in_one_form(args.statistics);
  call.dx = args.dx;
  call.dgamma = args.dgamma;
  const Status status = check_call(call);
  return status.ok() ? run(call, context) : status;
}

}  // namespace equinorm
