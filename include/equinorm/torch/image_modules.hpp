// GroupNorm, InstanceNorm, BatchNorm, LayerNorm2d and PowerNorm as LibTorch modules: PyTorch's
// options, parameters and buffers by PyTorch's names, so state saved by torch::nn loads into them.
//
// What is not here: any behaviour of its own; forward() calls images.hpp and power_norm.hpp. The
// one trap: as in PyTorch, num_batches_tracked counts for BatchNorm alone.
#pragma once

#include <torch/arg.h>
#include <torch/nn/cloneable.h>
#include <torch/nn/init.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <optional>
#include <ostream>

#include "equinorm/torch/detail/norm_modules.hpp"
#include "equinorm/torch/functional.hpp"
#include "equinorm/torch/images.hpp"
#include "equinorm/torch/power_norm.hpp"

namespace equinorm::torch {

/// Options of GroupNorm, named as PyTorch names them.
struct GroupNormOptions {
  /* implicit */ GroupNormOptions(std::int64_t num_groups, std::int64_t num_channels)
      : num_groups_(num_groups), num_channels_(num_channels) {}
  /// Groups of channels; divides num_channels.
  TORCH_ARG(std::int64_t, num_groups);
  /// Channels of the input.
  TORCH_ARG(std::int64_t, num_channels);
  /// Added to the variance; finite and at least 0.
  TORCH_ARG(double, eps) = 1e-5;
  /// Whether the module has a weight and a bias.
  TORCH_ARG(bool, affine) = true;
};

/// Options of BatchNorm1d and BatchNorm2d, named as PyTorch names them.
struct BatchNormOptions {
  /* implicit */ BatchNormOptions(std::int64_t num_features) : num_features_(num_features) {}
  /// Channels of the input.
  TORCH_ARG(std::int64_t, num_features);
  /// Added to the variance; finite and at least 0.
  TORCH_ARG(double, eps) = 1e-5;
  /// Weight of a batch in the running statistics; nullopt: they are the mean over all batches.
  TORCH_ARG(std::optional<double>, momentum) = 0.1;
  /// Whether the module has a weight and a bias.
  TORCH_ARG(bool, affine) = true;
  /// Whether it has running statistics; without them it uses the batch's outside training too.
  TORCH_ARG(bool, track_running_stats) = true;
};

/// Options of InstanceNorm1d and InstanceNorm2d, named as PyTorch names them.
struct InstanceNormOptions {
  /* implicit */ InstanceNormOptions(std::int64_t num_features) : num_features_(num_features) {}
  /// Channels of the input.
  TORCH_ARG(std::int64_t, num_features);
  /// Added to the variance; finite and at least 0.
  TORCH_ARG(double, eps) = 1e-5;
  /// Weight of a batch in the running statistics.
  TORCH_ARG(double, momentum) = 0.1;
  /// Whether the module has a weight and a bias.
  TORCH_ARG(bool, affine) = false;
  /// Whether it has running statistics, which it then uses outside training.
  TORCH_ARG(bool, track_running_stats) = false;
};

using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;

/// Options of LayerNorm2d.
struct LayerNorm2dOptions {
  /* implicit */ LayerNorm2dOptions(std::int64_t num_channels) : num_channels_(num_channels) {}
  /// Channels of the input.
  TORCH_ARG(std::int64_t, num_channels);
  /// Added to the variance; finite and at least 0.
  TORCH_ARG(double, eps) = 1e-6;
  /// Whether the module has a weight and a bias.
  TORCH_ARG(bool, affine) = true;
};

/// Options of PowerNorm, named and set as its released code has them.
struct PowerNormOptions {
  /* implicit */ PowerNormOptions(std::int64_t num_features) : num_features_(num_features) {}
  /// Features of the input.
  TORCH_ARG(std::int64_t, num_features);
  /// Added to the mean square; finite and at least 0.
  TORCH_ARG(double, eps) = 1e-5;
  /// Weight of what was, in the running mean square.
  TORCH_ARG(double, alpha_fwd) = 0.9;
  /// The same in the backward pass.
  TORCH_ARG(double, alpha_bkw) = 0.9;
  /// Whether the module has a weight and a bias.
  TORCH_ARG(bool, affine) = true;
  /// Steps that use the batch's mean square.
  TORCH_ARG(std::int64_t, warmup_iters) = 10000;
  /// Groups of features that each token is first scaled by, to a mean square of 1; 0: it is not.
  TORCH_ARG(std::int64_t, group_num) = 1;
};

/// See group_norm for formula, types, errors and bound.
class GroupNormImpl : public detail::AffineModule<GroupNormImpl> {
 public:
  GroupNormImpl(std::int64_t num_groups, std::int64_t num_channels)
      : GroupNormImpl(GroupNormOptions(num_groups, num_channels)) {}
  explicit GroupNormImpl(const GroupNormOptions& options_) : options(options_) { reset(); }

  void reset() override { make_affine(options.num_channels(), options.affine()); }

  void pretty_print(std::ostream& stream) const override {
    stream << std::boolalpha << "equinorm::torch::GroupNorm(" << options.num_groups() << ", "
           << options.num_channels() << ", eps=" << options.eps() << ", affine=" << options.affine()
           << ")";
  }

  at::Tensor forward(const at::Tensor& x) {
    return group_norm(x, options.num_groups(), weight, bias, options.eps());
  }

  GroupNormOptions options;
};

/// BatchNorm of tensors with kAxes axes behind the channels' one (BatchNorm1d: or none); see
/// batch_norm for formula, types, errors and bound.
template <int kAxes, class Derived>
class BatchNormImplBase : public detail::TrackingModule<Derived, BatchNormOptions> {
 public:
  using detail::TrackingModule<Derived, BatchNormOptions>::TrackingModule;

  void pretty_print(std::ostream& stream) const override {
    stream << std::boolalpha << "equinorm::torch::BatchNorm" << kAxes << "d("
           << this->options.num_features() << ", eps=" << this->options.eps() << ", momentum=";
    if (this->options.momentum()) {
      stream << *this->options.momentum();
    } else {
      stream << "None";
    }
    stream << ", affine=" << this->options.affine()
           << ", track_running_stats=" << this->options.track_running_stats() << ")";
  }

  at::Tensor forward(const at::Tensor& x) {
    const char* rule = kAxes == 1 ? "2 or 3" : "4";
    TORCH_CHECK(x.dim() == kAxes + 2 || (kAxes == 1 && x.dim() == 2), "equinorm::torch::BatchNorm",
                kAxes, "d: x.shape = ", x.sizes(), ": must have ", rule, " axes");
    const bool tracks = this->running_mean.defined();
    double momentum = this->options.momentum().value_or(0);
    if (this->is_training() && tracks) {
      this->num_batches_tracked.add_(1);
      if (!this->options.momentum()) {
        momentum = 1 / this->num_batches_tracked.template item<double>();
      }
    }
    return batch_norm(x, this->running_mean, this->running_var, this->weight, this->bias,
                      this->is_training() || !tracks, momentum, this->options.eps());
  }
};

/// InstanceNorm of tensors with kAxes axes behind the channels' one; a tensor without an axis of
/// samples is one sample. See instance_norm for formula, types, errors and bound.
template <int kAxes, class Derived>
class InstanceNormImplBase : public detail::TrackingModule<Derived, InstanceNormOptions> {
 public:
  using detail::TrackingModule<Derived, InstanceNormOptions>::TrackingModule;

  void pretty_print(std::ostream& stream) const override {
    stream << std::boolalpha << "equinorm::torch::InstanceNorm" << kAxes << "d("
           << this->options.num_features() << ", eps=" << this->options.eps()
           << ", momentum=" << this->options.momentum() << ", affine=" << this->options.affine()
           << ", track_running_stats=" << this->options.track_running_stats() << ")";
  }

  at::Tensor forward(const at::Tensor& x) {
    TORCH_CHECK(x.dim() == kAxes + 1 || x.dim() == kAxes + 2, "equinorm::torch::InstanceNorm",
                kAxes, "d: x.shape = ", x.sizes(), ": must have ", kAxes + 1, " or ", kAxes + 2,
                " axes");
    const bool one = x.dim() == kAxes + 1;
    const at::Tensor y =
        instance_norm(one ? x.unsqueeze(0) : x, this->running_mean, this->running_var, this->weight,
                      this->bias, this->is_training() || !this->running_mean.defined(),
                      this->options.momentum(), this->options.eps());
    return one ? y.squeeze(0) : y;
  }
};

/// BatchNorm of (samples, channels) and (samples, channels, positions).
class BatchNorm1dImpl : public BatchNormImplBase<1, BatchNorm1dImpl> {
 public:
  using BatchNormImplBase<1, BatchNorm1dImpl>::BatchNormImplBase;
};

/// BatchNorm of (samples, channels, height, width).
class BatchNorm2dImpl : public BatchNormImplBase<2, BatchNorm2dImpl> {
 public:
  using BatchNormImplBase<2, BatchNorm2dImpl>::BatchNormImplBase;
};

/// InstanceNorm of (samples, channels, positions).
class InstanceNorm1dImpl : public InstanceNormImplBase<1, InstanceNorm1dImpl> {
 public:
  using InstanceNormImplBase<1, InstanceNorm1dImpl>::InstanceNormImplBase;
};

/// InstanceNorm of (samples, channels, height, width).
class InstanceNorm2dImpl : public InstanceNormImplBase<2, InstanceNorm2dImpl> {
 public:
  using InstanceNormImplBase<2, InstanceNorm2dImpl>::InstanceNormImplBase;
};

/// See layer_norm_2d for formula, types, errors and bound.
class LayerNorm2dImpl : public detail::AffineModule<LayerNorm2dImpl> {
 public:
  explicit LayerNorm2dImpl(const LayerNorm2dOptions& options_) : options(options_) { reset(); }

  void reset() override { make_affine(options.num_channels(), options.affine()); }

  void pretty_print(std::ostream& stream) const override {
    stream << std::boolalpha << "equinorm::torch::LayerNorm2d(" << options.num_channels()
           << ", eps=" << options.eps() << ", affine=" << options.affine() << ")";
  }

  at::Tensor forward(const at::Tensor& x) { return layer_norm_2d(x, weight, bias, options.eps()); }

  LayerNorm2dOptions options;
};

/// PowerNorm of (..., features) behind a scaling of each token, as MaskPowerNorm of the released
/// code, whose state loads into it; see power_norm for formula, types, errors and bound.
class PowerNormImpl : public detail::AffineModule<PowerNormImpl> {
 public:
  explicit PowerNormImpl(const PowerNormOptions& options_) : options(options_) { reset(); }

  void reset() override {
    TORCH_CHECK(options.group_num() == 0 ||
                    (options.group_num() > 0 && options.num_features() % options.group_num() == 0),
                "equinorm::torch::PowerNorm: group_num = ", options.group_num(),
                ": must be 0 or divide num_features = ", options.num_features());
    make_affine(options.num_features(), options.affine());
    const std::int64_t shape[] = {1, options.num_features(), 1, 1};
    running_phi = register_buffer("running_phi", ::torch::ones(shape));
    ema_gz = register_buffer("ema_gz", ::torch::zeros(shape));
    iters = register_buffer("iters", ::torch::zeros({1}, at::kLong));
  }

  void pretty_print(std::ostream& stream) const override {
    stream << std::boolalpha << "equinorm::torch::PowerNorm(" << options.num_features()
           << ", eps=" << options.eps() << ", alpha_fwd=" << options.alpha_fwd()
           << ", alpha_bkw=" << options.alpha_bkw() << ", affine=" << options.affine()
           << ", warmup_iters=" << options.warmup_iters() << ", group_num=" << options.group_num()
           << ")";
  }

  at::Tensor forward(const at::Tensor& x) { return forward_masked(x, {}); }

  /// mask Bool of x's leading sizes, true for real tokens; undefined for all.
  at::Tensor forward_masked(const at::Tensor& x, const at::Tensor& mask) {
    if (is_training()) iters.add_(1);
    const PowerNormStep step = {.training = is_training(),
                                .iteration = is_training() ? iters.item<std::int64_t>() : 1,
                                .warmup_iters = options.warmup_iters(),
                                .alpha_fwd = options.alpha_fwd(),
                                .alpha_bkw = options.alpha_bkw(),
                                .eps = options.eps()};
    return power_norm(scaled(x), running_phi, ema_gz, weight, bias, step, mask);
  }

  PowerNormOptions options;
  at::Tensor running_phi;  ///< (1, features, 1, 1), as the released code has it
  at::Tensor ema_gz;       ///< likewise
  at::Tensor iters;        ///< steps of training so far

 private:
  /// Each token's groups of features to a mean square of 1.
  [[nodiscard]] at::Tensor scaled(const at::Tensor& x) const {
    const std::int64_t groups = options.group_num();
    if (groups == 0) return x;
    const std::int64_t width = options.num_features() / groups;
    return equinorm::torch::rms_norm(x.unflatten(-1, {groups, width}), {width}, {}, 1e-5)
        .flatten(-2);
  }
};

#define EQUINORM_MODULE_HOLDER(Name)                           \
  class Name : public ::torch::nn::ModuleHolder<Name##Impl> {  \
   public:                                                     \
    using ::torch::nn::ModuleHolder<Name##Impl>::ModuleHolder; \
    using Impl [[maybe_unused]] = Name##Impl;                  \
  }

/// Holders, as torch::nn::GroupNorm is of its own implementation.
EQUINORM_MODULE_HOLDER(GroupNorm);
EQUINORM_MODULE_HOLDER(BatchNorm1d);
EQUINORM_MODULE_HOLDER(BatchNorm2d);
EQUINORM_MODULE_HOLDER(InstanceNorm1d);
EQUINORM_MODULE_HOLDER(InstanceNorm2d);
EQUINORM_MODULE_HOLDER(LayerNorm2d);
EQUINORM_MODULE_HOLDER(PowerNorm);

#undef EQUINORM_MODULE_HOLDER

}  // namespace equinorm::torch
