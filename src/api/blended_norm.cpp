// alpha norm(x) + (1 - alpha) x: the norm's own call, with the blend behind it.
//
// The trap: the sums of a backward call are those of the norm without alpha; they come back in f64
// and are weighed here.
#include "equinorm/blended_norm.hpp"

#include "aligned.h"
#include "kernels/kernel_table.h"
#include "norm_call.h"
#include "overlap.h"
#include "parallel/fp_environment.h"
#include "return_if_bad.h"

namespace equinorm {
namespace {

constexpr ViewNames kAlpha = EQUINORM_VIEW_NAMES("alpha");
constexpr ViewNames kDalpha = EQUINORM_VIEW_NAMES("dalpha");

Status check_blend(const RowForm& form, const ConstVector& alpha, DType c) noexcept {
  if (form.gain == Gain::scalar || form.gain == Gain::adaptive) {
    return invalid("form.gain", Value(static_cast<int>(form.gain)),
                   "must be none, vector or one_plus");
  }
  if (alpha.data == nullptr) return invalid(kAlpha.data, Value("null"), "must be given");
  EQUINORM_RETURN_IF_BAD(check_vector(alpha, 1, "must be 1", kAlpha));
  return check_parameter_type(alpha.data, alpha.dtype, c, kAlpha);
}

/// alpha and its gradient share memory with no output and no input.
template <class Args>
Status check_alpha_overlap(const Args& args, const Rows& out) noexcept {
  Regions regions;
  regions.add_output({"the output rows", grouped(out)});
  regions.add_input({kAlpha.name, args.alpha});
  regions.add_input({"x", grouped(args.x)});
  regions.add_input({"gamma", args.gamma});
  regions.add_input({"beta", args.beta});
  if constexpr (requires { args.dalpha; }) {
    regions.add_output({kDalpha.name, args.dalpha});
    regions.add_output({"dgamma", args.dgamma});
    regions.add_output({"dbeta", args.dbeta});
    regions.add_input({"dy", grouped(args.dy)});
  }
  if (identical(grouped(out), grouped(args.x))) regions.allow("the output rows", "x");
  return regions.check();
}

/// A vector in f64, at a place of its own.
bool widen(const ConstVector& v, kernels::Target target, AlignedDoubles& to) noexcept {
  if (v.data == nullptr) return true;
  const parallel::FpEnvironment environment;
  to = aligned_doubles(v.size);
  if (to == nullptr) return false;
  kernels::parameter_table(target)->to_f64[static_cast<int>(v.dtype)](v.data, v.size, to.get());
  return true;
}

void narrow(const double* from, const Vector& to, kernels::Target target) noexcept {
  kernels::parameter_table(target)->from_f64[static_cast<int>(to.dtype)](from, to.size, to.data);
}

double alpha_of(const ConstVector& alpha, kernels::Target target) noexcept {
  const parallel::FpEnvironment environment;
  alignas(64) double value[64];
  kernels::parameter_table(target)->to_f64[static_cast<int>(alpha.dtype)](alpha.data, 1, value);
  return value[0];
}

/// alpha * gain in C, for a form whose gain is a vector.
template <class C>
void weigh_gain(const double* gamma, bool add_one, double alpha, std::int64_t cols,
                double* to) noexcept {
  const auto a = static_cast<C>(alpha);
  C* gain = reinterpret_cast<C*>(to);
  for (std::int64_t i = 0; i < cols; ++i) {
    C g = gamma == nullptr ? C{1} : static_cast<C>(gamma[i]);
    if (add_one && gamma != nullptr) g = C{1} + g;
    gain[i] = a * g;
  }
}

/// Column sums of dy xhat, dy and dy x.
struct Sums {
  AlignedDoubles xhat, one, x;

  bool reserve(std::int64_t cols) noexcept {
    xhat = aligned_doubles(cols);
    one = aligned_doubles(cols);
    x = aligned_doubles(cols);
    return xhat != nullptr && one != nullptr && x != nullptr;
  }
};

void store(const BlendedNormBackward& args, const double* gamma, const double* beta, double alpha,
           Sums& sums, kernels::Target target) noexcept {
  const parallel::FpEnvironment environment;
  const std::int64_t cols = args.x.cols;
  alignas(64) double dalpha[8] = {};
  for (std::int64_t i = 0; i < cols; ++i) {
    double gain = gamma == nullptr ? 1 : gamma[i];
    if (args.form.gain == Gain::one_plus && gamma != nullptr) gain = 1 + gain;
    const double shift = beta == nullptr ? 0 : beta[i];
    dalpha[0] += (gain * sums.xhat[i] + shift * sums.one[i]) - sums.x[i];
  }
  for (std::int64_t i = 0; i < cols; ++i) {
    sums.xhat[i] *= alpha;
    sums.one[i] *= alpha;
  }
  if (args.dalpha.data != nullptr) narrow(dalpha, args.dalpha, target);
  if (args.dgamma.data != nullptr) narrow(sums.xhat.get(), args.dgamma, target);
  if (args.dbeta.data != nullptr) narrow(sums.one.get(), args.dbeta, target);
}

}  // namespace

Status blended_norm_forward(const BlendedNormForward& args, Context& context) noexcept {
  ForwardCall call = forward_call(args);
  EQUINORM_RETURN_IF_BAD(check_call(call));
  EQUINORM_RETURN_IF_BAD(check_blend(args.form, args.alpha, call.compute()));
  EQUINORM_RETURN_IF_BAD(check_alpha_overlap(args, args.y));
  call.blend = {true, alpha_of(args.alpha, kernel_target(context))};
  return run(call, context);
}

Status blended_norm_backward(const BlendedNormBackward& args, Context& context) noexcept {
  BackwardCall call = backward_call(args);
  call.beta = grouped(args.beta);
  EQUINORM_RETURN_IF_BAD(check_call(call));
  const DType c = call.compute();
  EQUINORM_RETURN_IF_BAD(check_blend(args.form, args.alpha, c));
  EQUINORM_RETURN_IF_BAD(check_vector(args.dalpha, 1, "must be 1", kDalpha));
  EQUINORM_RETURN_IF_BAD(check_alpha_overlap(args, args.dx));
  const kernels::Target target = kernel_target(context);
  const std::int64_t cols = args.x.cols;
  AlignedDoubles gamma, beta;
  const AlignedDoubles gain = aligned_doubles(cols);
  Sums sums;
  if (!widen(args.gamma, target, gamma) || !widen(args.beta, target, beta) || gain == nullptr ||
      !sums.reserve(cols)) {
    return no_memory();
  }
  const double alpha = alpha_of(args.alpha, target);
  {
    const parallel::FpEnvironment environment;
    const bool add_one = args.form.gain == Gain::one_plus;
    c == DType::f64 ? weigh_gain<double>(gamma.get(), add_one, alpha, cols, gain.get())
                    : weigh_gain<float>(gamma.get(), add_one, alpha, cols, gain.get());
  }
  call.form.gain = Gain::vector;
  call.gamma = {gain.get(), c, cols, 0};
  call.beta = {};
  call.dgamma = {sums.xhat.get(), DType::f64, cols, 0};
  call.dbeta = {sums.one.get(), DType::f64, cols, 0};
  call.dgate = {sums.x.get(), DType::f64, cols, 0};
  call.blend = {true, alpha};
  call.fused = true;
  EQUINORM_RETURN_IF_BAD(run(call, context));
  store(args, gamma.get(), beta.get(), alpha, sums, target);
  return {};
}

}  // namespace equinorm
