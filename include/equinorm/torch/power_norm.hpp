// PowerNorm of at::Tensor: a norm by a running mean square, with the approximate backward pass of
// its released code.
//
// What it is not: the gradient of its forward pass. The one trap: the backward pass changes ema_gz,
// so each backward pass counts as a step of its average, as in the released code.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "equinorm/torch/detail/power_norm_function.hpp"
#include "equinorm/torch/images.hpp"

namespace equinorm::torch {

/// With psi2 = mean of x^2 of a feature over all tokens (those where mask is true):
///   y = weight * x / sqrt(p + eps) + bias
///   p = psi2 while step.iteration <= step.warmup_iters, running_phi afterwards;
///   then, while iteration < warmup_iters, running_phi = ((iteration - 1) running_phi + psi2) /
///   iteration; then running_phi = alpha_fwd * running_phi + (1 - alpha_fwd) * psi2.
/// Backward, with z = x / sqrt(p + eps) and g = dy * weight:
///   a = g - (1 - alpha_bkw) * ema_gz * z;  dx = a / sqrt(psi2 + eps);  ema_gz += mean(a * z),
///   dweight = sum dy * z;  dbias = sum dy.
/// Outside training p = running_phi, nothing is recorded, and the gradient is exact.
/// Source: Shen 2020, "PowerNorm: Rethinking Batch Normalization in Transformers", and its code
/// (PowerFunction; MaskPowerNorm scales tokens before it, see the module PowerNorm).
///
/// Shapes: x (..., features); running_phi and ema_gz any shape of so many elements; weight and bias
/// (features), or undefined for 1 and 0; mask Bool of x's leading sizes, or undefined for all.
/// Where no token counts, p = running_phi and nothing is recorded. Types: as group_norm. Errors:
/// another type, a shape that does not fit, an alpha outside [0, 1], iteration below 1, eps
/// negative or not finite; in training, second derivatives. Bound of y: docs/numerics.md, section
/// 6, with p as a parameter that is given. Autograd: gradients of x, weight and bias; keeps x.
inline at::Tensor power_norm(const at::Tensor& x, const at::Tensor& running_phi,
                             const at::Tensor& ema_gz, const at::Tensor& weight = {},
                             const at::Tensor& bias = {}, const PowerNormStep& step = {},
                             const at::Tensor& mask = {}) {
  constexpr const char* kName = "power_norm";
  detail::check_x(kName, x, 2, "(..., features)");
  const std::int64_t features[] = {x.size(-1)};
  detail::check_parameter(kName, "weight", weight, x, features, "x's features");
  detail::check_parameter(kName, "bias", bias, x, features, "x's features");
  detail::check_average("running_phi", running_phi, x);
  detail::check_average("ema_gz", ema_gz, x);
  detail::check_step(step);
  if (mask.defined()) {
    const at::IntArrayRef tokens = x.sizes().slice(0, x.dim() - 1);
    TORCH_CHECK(mask.scalar_type() == at::kBool && mask.sizes() == tokens,
                "equinorm::torch::", kName, ": mask = ", mask.toString(), mask.sizes(),
                ": must be Bool of shape ", tokens);
  }
  const at::Tensor tokens = x.reshape({detail::row_shape(x.sizes(), 1).rows, features[0]});
  if (!step.training) {
    const at::Tensor phi = running_phi.detach().flatten();
    return batch_norm(tokens, at::zeros_like(phi), phi, weight, bias, /*training=*/false, 0.1,
                      step.eps)
        .reshape(x.sizes());
  }
  const detail::PowerNormCall call{running_phi, ema_gz, step,
                                   mask.defined() ? mask.flatten() : mask};
  return detail::PowerNormFunction::apply(tokens, detail::as_optional(weight),
                                          detail::as_optional(bias), call)
      .reshape(x.sizes());
}

}  // namespace equinorm::torch
