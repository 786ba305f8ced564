// PowerNorm in training: its forward pass through the core, its approximate backward pass, and the
// averages that both keep. Arguments are checked; x is (tokens, features).
//
// It is no NormOperator, as its backward pass is not the derivative of a formula. The one trap: the
// mean square of the forward pass is the one from before this batch is recorded.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>

#include <cstdint>
#include <optional>

#include "equinorm/grouped_norm.hpp"
#include "equinorm/torch/context.hpp"
#include "equinorm/torch/detail/arguments.hpp"
#include "equinorm/torch/detail/autograd.hpp"
#include "equinorm/torch/detail/composite.hpp"
#include "equinorm/torch/detail/image_view.hpp"

namespace equinorm::torch {

/// Which step of training a call of power_norm is, and its constants.
struct PowerNormStep {
  bool training = true;
  std::int64_t iteration = 1;     ///< of the steps of training, from 1
  std::int64_t warmup_iters = 0;  ///< steps that use the batch's mean square
  double alpha_fwd = 0.9;
  double alpha_bkw = 0.9;
  double eps = 1e-5;
};

namespace detail {

inline void check_average(const char* name, const at::Tensor& average, const at::Tensor& x) {
  TORCH_CHECK(average.defined() && average.numel() == x.size(-1),
              "equinorm::torch::power_norm: ", name,
              ": must be a tensor of as many elements as x has features, ", x.size(-1));
  check_parameter("power_norm", name, average, x, average.sizes());
}

inline void check_step(const PowerNormStep& step) {
  const auto check_alpha = [](const char* name, double alpha) {
    TORCH_CHECK(alpha >= 0 && alpha <= 1, "equinorm::torch::power_norm: ", name, " = ", alpha,
                ": must be at least 0 and at most 1");
  };
  check_alpha("alpha_fwd", step.alpha_fwd);
  check_alpha("alpha_bkw", step.alpha_bkw);
  TORCH_CHECK(step.iteration >= 1, "equinorm::torch::power_norm: iteration = ", step.iteration,
              ": must be at least 1");
  check_eps("power_norm", step.eps);
}

struct PowerNormCall {
  at::Tensor running_phi;
  at::Tensor ema_gz;
  PowerNormStep step;
  at::Tensor mask;  ///< (tokens) or undefined
};

/// y = weight * x / sqrt(phi + eps) + bias: a feature is a row of the core.
inline at::Tensor power_norm_run(const at::Tensor& x, const at::Tensor& weight,
                                 const at::Tensor& bias, const at::Tensor& phi, double eps) {
  if (!x.is_cpu()) {
    at::Tensor y = wide_input(x).mul(phi.add(eps).rsqrt());
    if (weight.defined()) y = y.mul(weight);
    if (bias.defined()) y = y.add(bias);
    return y.to(x.scalar_type());
  }
  at::Tensor y = at::empty(x.sizes(), x.options());
  const ImageView view(x);
  const auto by_feature = [](const ConstImages& i) {
    return Arrangement{.groups = i.channels,
                       .rows = 1,
                       .cols = i.samples,
                       .group_stride = i.channel_stride,
                       .column_stride = i.sample_stride};
  };
  const ConstImages in = view.images();
  const Images out = output_images(y);
  const ParameterView gamma_view = parameter_view(weight);
  const ParameterView beta_view = parameter_view(bias);
  const ParameterView phi_view = parameter_view(phi);
  const ConstVector gamma = gamma_view.vector();
  const ConstVector beta = beta_view.vector();
  check_status("power_norm",
               grouped_norm_forward({.form = {.centered = false, .eps = eps},
                                     .x = {in.data, in.dtype, by_feature(in)},
                                     .gamma = {gamma.data, gamma.dtype, 1, 1},
                                     .beta = {beta.data, beta.dtype, 1, 1},
                                     .given = {.mean = {}, .variance = phi_view.vector()},
                                     .y = {out.data, out.dtype, by_feature(out)},
                                     .mean = {},
                                     .variance = {}},
                                    context()));
  return y;
}

struct PowerNormFunction : ::torch::autograd::Function<PowerNormFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x,
                            const std::optional<at::Tensor>& given_weight,
                            const std::optional<at::Tensor>& given_bias,
                            const PowerNormCall& call) {
    const at::Tensor weight = given_weight.value_or(at::Tensor());
    const at::Tensor bias = given_bias.value_or(at::Tensor());
    const PowerNormStep& step = call.step;
    const at::Tensor real = call.mask.defined() ? x.index({call.mask}) : x;
    const auto wide = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const bool counts = real.size(0) > 0;
    at::Tensor phi = call.running_phi.flatten().to(wide, /*non_blocking=*/false, /*copy=*/true);
    at::Tensor psi2 = counts ? real.to(at::kDouble).square().mean(0) : phi.to(at::kDouble);
    if (counts) record(call, psi2);
    psi2 = psi2.to(wide);
    if (step.iteration <= step.warmup_iters) phi = psi2;
    ctx->set_materialize_grads(false);
    ctx->saved_data["ema_gz"] = call.ema_gz;
    ctx->saved_data["alpha"] = step.alpha_bkw;
    ctx->saved_data["eps"] = step.eps;
    ctx->save_for_backward({x, weight, bias, phi, psi2});
    return power_norm_run(x, weight, bias, phi, step.eps);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    TORCH_CHECK(!at::GradMode::is_enabled(),
                "equinorm::torch::power_norm: create_graph = true: the approximate gradient of "
                "training has no derivatives");
    if (!gradients[0].defined()) return variable_list(4);
    const auto saved = ctx->get_saved_variables();
    const at::Tensor& x = saved[0];
    const at::Tensor& weight = saved[1];
    const at::Tensor& bias = saved[2];
    const double eps = ctx->saved_data["eps"].toDouble();
    const double pull = 1 - ctx->saved_data["alpha"].toDouble();
    const at::Tensor ema_gz = ctx->saved_data["ema_gz"].toTensor();
    const auto wide = saved[3].scalar_type();
    const at::Tensor dy = gradients[0].to(wide);
    const at::Tensor z = x.to(wide).mul(saved[3].add(eps).rsqrt());
    const at::Tensor g = weight.defined() ? dy.mul(weight) : dy;
    const at::Tensor a = g.sub(z.mul(ema_gz.flatten().to(wide)), pull);
    if (x.size(0) > 0) ema_gz.add_(a.mul(z).mean(0).view_as(ema_gz));
    WantedGradients wanted(*ctx);
    variable_list d(4);
    if (wanted.wants(x)) d[0] = a.mul(saved[4].add(eps).rsqrt()).to(x.scalar_type());
    if (wanted.wants(weight)) d[1] = dy.mul(z).sum(0).to(weight.scalar_type());
    if (wanted.wants(bias)) d[2] = dy.sum(0).to(bias.scalar_type());
    return d;
  }

 private:
  /// The running mean square after this batch.
  static void record(const PowerNormCall& call, const at::Tensor& psi2) {
    const PowerNormStep& step = call.step;
    at::Tensor phi = call.running_phi.flatten().to(at::kDouble);
    if (step.iteration < step.warmup_iters) {
      const auto n = static_cast<double>(step.iteration);
      phi = phi.mul((n - 1) / n).add(psi2, 1 / n);
    }
    phi = phi.mul(step.alpha_fwd).add(psi2, 1 - step.alpha_fwd);
    call.running_phi.copy_(phi.view_as(call.running_phi));
  }
};

}  // namespace detail
}  // namespace equinorm::torch
