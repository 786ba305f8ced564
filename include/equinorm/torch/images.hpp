// Norms over samples, channels and positions of at::Tensor: GroupNorm, InstanceNorm, BatchNorm and
// LayerNorm of images, with PyTorch's arguments and autograd.
//
// The channel is axis 1, as in PyTorch, but in masked_batch_norm and per_step_batch_norm the last.
// Contiguous and channels-last tensors, slices of samples and channels and every other layout with
// one step from position to position are read where they lie; others are copied once. Results and
// gradients of x have x's memory format, and the same bits in each.
//
// The one trap: names, as in functional.hpp. What is said there of types, autocast, threads, second
// and forward-mode derivatives and other devices holds here too.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "equinorm/torch/detail/batch_norm_operator.hpp"
#include "equinorm/torch/detail/image_norms.hpp"

namespace equinorm::torch {
namespace detail {

constexpr const char* kImageLayout = "(samples, channels, ...)";

inline void check_channels(const char* op, const at::Tensor& x,
                           std::initializer_list<std::pair<const char*, at::Tensor>> parameters) {
  const std::int64_t channels[] = {x.size(1)};
  for (const auto& [name, parameter] : parameters) {
    check_parameter(op, name, parameter, x, channels, "x's channels");
  }
}

/// Both running statistics or neither, and those that are needed.
inline void check_running(const char* op, const RunningStatistics& running, bool needed) {
  TORCH_CHECK(running.mean.defined() == running.variance.defined(), "equinorm::torch::", op,
              ": running_", running.mean.defined() ? "var" : "mean",
              " is undefined: both running statistics must be given, or none");
  TORCH_CHECK(!needed || running.mean.defined(), "equinorm::torch::", op,
              ": running_mean is undefined: statistics that are not the input's must be given");
  TORCH_CHECK(running.momentum >= 0 && running.momentum <= 1, "equinorm::torch::", op,
              ": momentum = ", running.momentum, ": must be at least 0 and at most 1");
}

}  // namespace detail

/// y = weight_c * (x - mean) / sqrt(var + eps) + bias_c, mean and biased variance over the channels
/// of a group and all positions of a sample.
/// Source: Wu, He 2018, "Group Normalization"; torch.nn.functional.group_norm.
///
/// Shapes: x (samples, channels, ...), sizes of 0 are fine; weight and bias (channels), or
/// undefined for 1 and 0. The result has x's shape, type and memory format. Types: Double, Float,
/// Half, BFloat16 for each tensor; Double parameters need Double x. Errors (c10::Error): another
/// type, a shape that does not fit, num_groups that does not divide the channels, devices that
/// differ, eps negative or not finite. Bound: docs/numerics.md, section 6, a row being what is
/// averaged. A group that holds a NaN or an infinity gives NaN. Autograd: gradients of x, weight
/// and bias; keeps x.
inline at::Tensor group_norm(const at::Tensor& x, std::int64_t num_groups,
                             const at::Tensor& weight = {}, const at::Tensor& bias = {},
                             double eps = 1e-5) {
  constexpr const char* kName = "group_norm";
  detail::check_x(kName, x, 2, detail::kImageLayout);
  TORCH_CHECK(num_groups >= 1 && x.size(1) % num_groups == 0, "equinorm::torch::", kName,
              ": num_groups = ", num_groups, ": must be at least 1 and divide the ", x.size(1),
              " channels of x");
  detail::check_channels(kName, x, {{"weight", weight}, {"bias", bias}});
  detail::check_eps(kName, eps);
  return detail::apply(c10::make_intrusive<detail::GroupNormOperator>(kName, num_groups, eps),
                       {x, weight, bias});
}

/// BatchNorm: y = weight_c * (x - mean_c) / sqrt(var_c + eps) + bias_c, mean and biased variance
/// over samples and positions in training, the running ones otherwise.
/// Source: Ioffe, Szegedy 2015; torch.nn.functional.batch_norm.
///
/// Shapes and types: as group_norm; running_mean and running_var as weight. In training they are
/// optional and become (1 - momentum) * old + momentum * new, with the variance of a sample (n - 1
/// for n), computed in Double and rounded once; where x is empty they stay. A channel of one
/// element counts as of variance 0, where PyTorch records NaN or refuses. Errors, bound: as
/// group_norm; momentum outside [0, 1]; running statistics that are missing. Autograd: gradients of
/// x, weight and bias; keeps x and, outside training, the statistics.
inline at::Tensor batch_norm(const at::Tensor& x, const at::Tensor& running_mean,
                             const at::Tensor& running_var, const at::Tensor& weight = {},
                             const at::Tensor& bias = {}, bool training = false,
                             double momentum = 0.1, double eps = 1e-5) {
  constexpr const char* kName = "batch_norm";
  const detail::RunningStatistics running{running_mean, running_var, momentum};
  detail::check_x(kName, x, 2, detail::kImageLayout);
  detail::check_channels(kName, x,
                         {{"weight", weight},
                          {"bias", bias},
                          {"running_mean", running_mean},
                          {"running_var", running_var}});
  detail::check_running(kName, running, !training);
  detail::check_eps(kName, eps);
  return detail::apply(c10::make_intrusive<detail::BatchNormOperator>(detail::BatchNormSettings{
                           .name = kName, .training = training, .eps = eps, .running = running}),
                       {x, weight, bias});
}

/// InstanceNorm: group_norm with a group per channel where use_input_stats, with the running
/// statistics as batch_norm otherwise.
/// Source: Ulyanov 2016, "Instance Normalization"; torch.nn.functional.instance_norm.
///
/// With use_input_stats the running statistics, where given, become (1 - momentum) * old + momentum
/// * new, new being the mean over samples of an instance's mean and variance, the latter that of a
/// sample (n - 1 for n positions; a single position counts as of variance 0).
/// The rest as batch_norm.
inline at::Tensor instance_norm(const at::Tensor& x, const at::Tensor& running_mean = {},
                                const at::Tensor& running_var = {}, const at::Tensor& weight = {},
                                const at::Tensor& bias = {}, bool use_input_stats = true,
                                double momentum = 0.1, double eps = 1e-5) {
  constexpr const char* kName = "instance_norm";
  const detail::RunningStatistics running{running_mean, running_var, momentum};
  detail::check_x(kName, x, 2, detail::kImageLayout);
  detail::check_channels(kName, x,
                         {{"weight", weight},
                          {"bias", bias},
                          {"running_mean", running_mean},
                          {"running_var", running_var}});
  detail::check_running(kName, running, !use_input_stats);
  detail::check_eps(kName, eps);
  const detail::NormInputs in{x, weight, bias};
  const std::int64_t groups = std::max<std::int64_t>(x.size(1), 1);
  if (!use_input_stats) {
    return detail::apply(c10::make_intrusive<detail::BatchNormOperator>(detail::BatchNormSettings{
                             .name = kName, .training = false, .eps = eps, .running = running}),
                         in);
  }
  if (!running.defined()) {
    return detail::apply(c10::make_intrusive<detail::GroupNormOperator>(kName, groups, eps), in);
  }
  return detail::apply(c10::make_intrusive<detail::RecordingInstanceNorm>(groups, eps, running),
                       in);
}

/// LayerNorm over the channels of each position.
/// Source: Liu 2022, "A ConvNet for the 2020s" (LayerNorm2d, eps 1e-6).
/// Shapes, types, errors, bound, autograd: as group_norm.
inline at::Tensor layer_norm_2d(const at::Tensor& x, const at::Tensor& weight = {},
                                const at::Tensor& bias = {}, double eps = 1e-6) {
  constexpr const char* kName = "layer_norm_2d";
  detail::check_x(kName, x, 2, detail::kImageLayout);
  detail::check_channels(kName, x, {{"weight", weight}, {"bias", bias}});
  detail::check_eps(kName, eps);
  return detail::apply(
      c10::make_intrusive<detail::ImageLayerNormOperator>(kName, LayerAxes::channels, eps),
      {x, weight, bias});
}

/// LayerNorm over all of a sample: torch.nn.LayerNorm([C, H, W]), without a copy of channels-last.
/// Shapes: weight and bias as a sample of x; the rest as group_norm.
inline at::Tensor layer_norm_chw(const at::Tensor& x, const at::Tensor& weight = {},
                                 const at::Tensor& bias = {}, double eps = 1e-5) {
  constexpr const char* kName = "layer_norm_chw";
  detail::check_x(kName, x, 2, detail::kImageLayout);
  const at::IntArrayRef sample = x.sizes().slice(1);
  detail::check_parameter(kName, "weight", weight, x, sample, "a sample of x");
  detail::check_parameter(kName, "bias", bias, x, sample, "a sample of x");
  detail::check_eps(kName, eps);
  return detail::apply(
      c10::make_intrusive<detail::ImageLayerNormOperator>(kName, LayerAxes::sample, eps),
      {x, weight, bias});
}

}  // namespace equinorm::torch
