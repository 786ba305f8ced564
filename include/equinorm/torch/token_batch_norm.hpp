// BatchNorm of sequences: over the real tokens of a batch, or of each time step apart.
//
// Features are the last axis here, as everywhere in Transformers. The one trap: true in a mask
// stands for a real token; elsewhere it is often the padding.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>

#include "equinorm/torch/images.hpp"

namespace equinorm::torch {
namespace detail {

/// Features last, as images: their axis becomes that of channels.
inline at::Tensor features_as_channels(const at::Tensor& x) {
  return x.dim() == 2 ? x : x.transpose(1, 2);
}

inline at::Tensor token_batch_norm(BatchNormSettings settings, const NormInputs& in) {
  const at::Tensor y = apply(c10::make_intrusive<BatchNormOperator>(std::move(settings)),
                             {features_as_channels(in.x), in.weight, in.bias});
  return features_as_channels(y);
}

}  // namespace detail

/// batch_norm over the tokens that are real; where mask is false y and the gradient of x are 0, in
/// training or not, whatever x holds there.
/// Source: the code of Shen 2020, "PowerNorm" (MaskBatchNorm).
///
/// Shapes: x (samples, tokens, features) and mask (samples, tokens), or x (tokens, features) and
/// mask (tokens); mask Bool, true for real tokens, undefined for all. weight, bias and the running
/// statistics (features). The rest as batch_norm.
inline at::Tensor masked_batch_norm(const at::Tensor& x, const at::Tensor& mask,
                                    const at::Tensor& running_mean, const at::Tensor& running_var,
                                    const at::Tensor& weight = {}, const at::Tensor& bias = {},
                                    bool training = false, double momentum = 0.1,
                                    double eps = 1e-5) {
  constexpr const char* kName = "masked_batch_norm";
  const detail::RunningStatistics running{running_mean, running_var, momentum};
  detail::check_x(kName, x, 2, "(samples, tokens, features) or (tokens, features)");
  TORCH_CHECK(x.dim() <= 3, "equinorm::torch::", kName, ": x.shape = ", x.sizes(),
              ": must be (samples, tokens, features) or (tokens, features)");
  if (mask.defined()) {
    const at::IntArrayRef tokens = x.sizes().slice(0, x.dim() - 1);
    TORCH_CHECK(mask.scalar_type() == at::kBool, "equinorm::torch::", kName,
                ": mask.dtype = ", mask.scalar_type(), ": must be Bool");
    TORCH_CHECK(mask.sizes() == tokens, "equinorm::torch::", kName, ": mask.shape = ", mask.sizes(),
                ": must equal x's samples and tokens = ", tokens);
    TORCH_CHECK(mask.device() == x.device(), "equinorm::torch::", kName,
                ": mask.device = ", mask.device(), ": must equal x.device = ", x.device());
  }
  detail::check_channels(kName, detail::features_as_channels(x),
                         {{"weight", weight},
                          {"bias", bias},
                          {"running_mean", running_mean},
                          {"running_var", running_var}});
  detail::check_running(kName, running, !training);
  detail::check_eps(kName, eps);
  return detail::token_batch_norm(
      {.name = kName, .training = training, .eps = eps, .mask = mask, .running = running},
      {x, weight, bias});
}

/// batch_norm of each time step apart.
/// Source: Cooijmans 2016, "Recurrent Batch Normalization".
///
/// Shapes: x (samples, time, features); running_mean and running_var (steps, features), steps at
/// least 1: outside training later times use those of the last step, in training they are not
/// recorded. weight, bias (features). The rest as batch_norm.
inline at::Tensor per_step_batch_norm(const at::Tensor& x, const at::Tensor& running_mean,
                                      const at::Tensor& running_var, const at::Tensor& weight = {},
                                      const at::Tensor& bias = {}, bool training = false,
                                      double momentum = 0.1, double eps = 1e-5) {
  constexpr const char* kName = "per_step_batch_norm";
  constexpr const char* kLayout = "(samples, time, features)";
  const detail::RunningStatistics running{running_mean, running_var, momentum};
  detail::check_x(kName, x, 3, kLayout);
  TORCH_CHECK(x.dim() == 3, "equinorm::torch::", kName, ": x.shape = ", x.sizes(), ": must be ",
              kLayout);
  detail::check_channels(kName, detail::features_as_channels(x),
                         {{"weight", weight}, {"bias", bias}});
  detail::check_running(kName, running, !training);
  if (running.defined()) {
    TORCH_CHECK(running_mean.dim() == 2 && running_mean.size(0) >= 1, "equinorm::torch::", kName,
                ": running_mean.shape = ", running_mean.sizes(),
                ": must be (steps, features) with at least one step");
    const std::int64_t shape[] = {running_mean.size(0), x.size(2)};
    detail::check_parameter(kName, "running_mean", running_mean, x, shape, "(steps, features)");
    detail::check_parameter(kName, "running_var", running_var, x, shape, "(steps, features)");
  }
  detail::check_eps(kName, eps);
  return detail::token_batch_norm(
      {.name = kName, .training = training, .per_position = true, .eps = eps, .running = running},
      {x, weight, bias});
}

}  // namespace equinorm::torch
