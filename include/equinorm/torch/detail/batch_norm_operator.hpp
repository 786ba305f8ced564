// BatchNorm as a norm for autograd: of a batch, of its real tokens, of each position apart.
//
// The one trap: running statistics are written by forward passes in training and are constants of
// the backward pass otherwise, never both.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "equinorm/images.hpp"
#include "equinorm/torch/detail/image_norms.hpp"
#include "equinorm/torch/detail/running_statistics.hpp"

namespace equinorm::torch::detail {

/// What a call is told besides x, weight and bias.
struct BatchNormSettings {
  const char* name = "batch_norm";
  bool training = true;
  bool per_position = false;
  double eps = 1e-5;
  at::Tensor mask = {};  ///< bool (samples, positions) or undefined: all are real
  RunningStatistics running = {};
};

class BatchNormOperator final : public ImageNorm {
 public:
  explicit BatchNormOperator(BatchNormSettings settings)
      : ImageNorm(settings.name), s_(std::move(settings)) {
    if (s_.mask.defined()) s_.mask = s_.mask.contiguous();
    keep(s_.mask);
    if (s_.training) return;
    keep(s_.running.mean);
    keep(s_.running.variance);
  }

  void forward(const NormInputs& in, const at::Tensor& y) const override {
    const ImageView x(in.x);
    const ParameterView gamma = parameter_view(in.weight);
    const ParameterView beta = parameter_view(in.bias);
    const InPlace mean(s_.running.mean);
    const InPlace variance(s_.running.variance);
    check_status(name(), batch_norm_forward({.x = x.images(),
                                             .options = options(),
                                             .gamma = gamma.vector(),
                                             .beta = beta.vector(),
                                             .running_mean = mean.vector(),
                                             .running_variance = variance.vector(),
                                             .momentum = s_.running.momentum,
                                             .y = output_images(y)},
                                            context()));
    if (!s_.training) return;
    mean.written();
    variance.written();
  }

  void backward(const at::Tensor& dy, const NormInputs& in, const NormInputs& d) const override {
    const ImageView dy_view(dy);
    const ImageView x(in.x);
    const ParameterView gamma = parameter_view(in.weight);
    const ParameterView mean = parameter_view(s_.training ? at::Tensor() : s_.running.mean);
    const ParameterView variance = parameter_view(s_.training ? at::Tensor() : s_.running.variance);
    check_status(name(), batch_norm_backward({.dy = dy_view.images(),
                                              .x = x.images(),
                                              .options = options(),
                                              .gamma = gamma.vector(),
                                              .running_mean = mean.vector(),
                                              .running_variance = variance.vector(),
                                              .dx = output_images(d.x),
                                              .dgamma = output_vector(d.weight),
                                              .dbeta = output_vector(d.bias)},
                                             context()));
  }

  [[nodiscard]] at::Tensor composite(const NormInputs& in) const override {
    const at::Tensor x = as_positions(in.x);
    const Moments moments = s_.training ? moments_of(x) : running_moments(x);
    at::Tensor y = x.sub(moments.mean).mul(moments.variance.add(s_.eps).rsqrt());
    y = channel_affine(y.reshape(in.x.sizes()), in);
    return s_.mask.defined() ? at::where(real(x).reshape(mask_beside(in.x)), y, 0) : y;
  }

  void record(const at::Tensor& x) const override {
    if (!s_.training || !s_.running.defined()) return;
    const at::NoGradGuard no_grad;
    const at::Tensor values = as_positions(x);
    const std::int64_t count = s_.mask.defined() ? s_.mask.sum().item<std::int64_t>()
                               : s_.per_position ? values.size(0)
                                                 : values.size(0) * values.size(2);
    if (count == 0 || values.size(2) == 0) return;
    const Moments moments = moments_of(values);
    if (!s_.per_position) {
      s_.running.update(moments.mean.flatten(), moments.variance.flatten(), count);
      return;
    }
    const std::int64_t steps = std::min(s_.running.mean.size(0), values.size(2));
    RunningStatistics first = s_.running;
    first.mean = first.mean.narrow(0, 0, steps);
    first.variance = first.variance.narrow(0, 0, steps);
    first.update(moments.mean[0].t().narrow(0, 0, steps),
                 moments.variance[0].t().narrow(0, 0, steps), count);
  }

 private:
  /// They broadcast against (samples, channels, positions).
  struct Moments {
    at::Tensor mean;
    at::Tensor variance;
  };

  [[nodiscard]] equinorm::BatchNormOptions options() const {
    return {.eps = s_.eps,
            .training = s_.training,
            .per_position = s_.per_position,
            .mask = s_.mask.defined() ? static_cast<const std::uint8_t*>(s_.mask.const_data_ptr())
                                      : nullptr};
  }

  static at::Tensor as_positions(const at::Tensor& x) {
    return wide_input(x).reshape({x.size(0), x.size(1), positions_of(x)});
  }

  [[nodiscard]] at::Tensor real(const at::Tensor& x) const {
    return s_.mask.reshape({x.size(0), 1, x.size(2)});
  }

  /// The mask's sizes beside x as it came: one for the channels.
  static std::vector<std::int64_t> mask_beside(const at::Tensor& x) {
    auto sizes = x.sizes().vec();
    sizes[1] = 1;
    return sizes;
  }

  [[nodiscard]] Moments moments_of(const at::Tensor& x) const {
    if (s_.per_position) {
      const at::Tensor mean = x.mean(0, true);
      return {mean, x.sub(mean).square().mean(0, true)};
    }
    if (!s_.mask.defined()) {
      const at::Tensor mean = x.mean({0, 2}, true);
      return {mean, x.sub(mean).square().mean({0, 2}, true)};
    }
    const at::Tensor here = real(x);
    const at::Tensor count = here.sum();
    const auto mean_of = [&](const at::Tensor& t) {
      return at::where(here, t, 0).sum({0, 2}, true).div(count);
    };
    const at::Tensor mean = mean_of(x);
    return {mean, mean_of(x.sub(mean).square())};
  }

  [[nodiscard]] Moments running_moments(const at::Tensor& x) const {
    const auto beside = [&](const at::Tensor& running) {
      const at::Tensor wide = wide_input(running).to(x.scalar_type());
      if (!s_.per_position) return wide.reshape({1, -1, 1});
      const at::Tensor step = at::arange(x.size(2), s_.running.mean.options().dtype(at::kLong))
                                  .clamp_max(wide.size(0) - 1);
      return wide.index_select(0, step).t().unsqueeze(0);
    };
    return {beside(s_.running.mean), beside(s_.running.variance)};
  }

  BatchNormSettings s_;
};

}  // namespace equinorm::torch::detail
