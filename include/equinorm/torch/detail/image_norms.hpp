// GroupNorm, InstanceNorm and LayerNorm of images as norms for autograd. Arguments are checked.
//
// What is not here: a choice of layout; image_view.hpp makes it. The one trap: composite() shapes
// its rows by logical order, so it may copy where the core does not.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstdint>

#include "equinorm/grouped_norm.hpp"
#include "equinorm/images.hpp"
#include "equinorm/torch/detail/composite.hpp"
#include "equinorm/torch/detail/image_view.hpp"
#include "equinorm/torch/detail/norm_operator.hpp"
#include "equinorm/torch/detail/running_statistics.hpp"

namespace equinorm::torch::detail {

/// A vector of channels beside a tensor (samples, channels, ...).
inline at::Tensor beside_channels(const at::Tensor& vector, std::int64_t dims) {
  c10::SmallVector<std::int64_t, 5> sizes(static_cast<std::size_t>(dims), 1);
  sizes[1] = vector.numel();
  return vector.reshape(sizes);
}

/// y * weight + bias by channel, in x's type.
inline at::Tensor channel_affine(at::Tensor y, const NormInputs& in) {
  if (in.weight.defined()) y = y.mul(beside_channels(in.weight, y.dim()));
  if (in.bias.defined()) y = y.add(beside_channels(in.bias, y.dim()));
  return y.to(in.x.scalar_type());
}

class ImageNorm : public NormOperator {
 public:
  using NormOperator::NormOperator;
  [[nodiscard]] at::Tensor like(const at::Tensor& x) const override { return image_like(x); }
};

class GroupNormOperator : public ImageNorm {
 public:
  GroupNormOperator(const char* name, std::int64_t groups, double eps)
      : ImageNorm(name), groups_(groups), eps_(eps) {}

  void forward(const NormInputs& in, const at::Tensor& y) const override {
    const ImageView x(in.x);
    const ParameterView gamma = parameter_view(in.weight);
    const ParameterView beta = parameter_view(in.bias);
    check_status(name(), group_norm_forward({.x = x.images(),
                                             .groups = groups_,
                                             .gamma = gamma.vector(),
                                             .beta = beta.vector(),
                                             .eps = eps_,
                                             .y = output_images(y)},
                                            context()));
  }

  void backward(const at::Tensor& dy, const NormInputs& in, const NormInputs& d) const override {
    const ImageView dy_view(dy);
    const ImageView x(in.x);
    const ParameterView gamma = parameter_view(in.weight);
    check_status(name(), group_norm_backward({.dy = dy_view.images(),
                                              .x = x.images(),
                                              .groups = groups_,
                                              .gamma = gamma.vector(),
                                              .eps = eps_,
                                              .dx = output_images(d.x),
                                              .dgamma = output_vector(d.weight),
                                              .dbeta = output_vector(d.bias)},
                                             context()));
  }

  [[nodiscard]] at::Tensor composite(const NormInputs& in) const override {
    const std::int64_t channels = in.x.size(1) / groups_;
    const at::Tensor rows =
        wide_input(in.x).reshape({in.x.size(0), groups_, channels * positions_of(in.x)});
    const at::Tensor y = scale_rows(rows.sub(mean_of_rows(rows, 1)), 1, eps_);
    return channel_affine(y.reshape(in.x.sizes()), in);
  }

 protected:
  std::int64_t groups_;
  double eps_;
};

/// InstanceNorm that keeps running statistics: means over samples of those of the instances.
class RecordingInstanceNorm : public GroupNormOperator {
 public:
  RecordingInstanceNorm(std::int64_t channels, double eps, RunningStatistics running)
      : GroupNormOperator("instance_norm", channels, eps), running_(std::move(running)) {}

  void forward(const NormInputs& in, const at::Tensor& y) const override {
    const ImageView x_view(in.x);
    const ConstImages x = x_view.images();
    const ParameterView gamma = parameter_view(in.weight);
    const ParameterView beta = parameter_view(in.bias);
    const Images out = output_images(y);
    const std::int64_t rows = x.samples * x.channels;
    // The core's order: channel by channel.
    const at::Tensor statistics = at::empty({2, x.channels, x.samples}, at::kDouble);
    auto* numbers = statistics.mutable_data_ptr<double>();
    const ConstVector g = gamma.vector();
    const ConstVector b = beta.vector();
    check_status(name(), grouped_norm_forward({.form = {.eps = eps_},
                                               .x = {x.data, x.dtype, by_instance(x)},
                                               .gamma = {g.data, g.dtype, 1, 1},
                                               .beta = {b.data, b.dtype, 1, 1},
                                               .given = {},
                                               .y = {out.data, out.dtype, by_instance(out)},
                                               .mean = {numbers, DType::f64, rows},
                                               .variance = {numbers + rows, DType::f64, rows}},
                                              context()));
    update(statistics.select(0, 0), statistics.select(0, 1), x.positions);
  }

  void record(const at::Tensor& x) const override {
    const at::Tensor rows = wide_input(x.detach()).reshape({x.size(0), x.size(1), positions_of(x)});
    const at::Tensor mean = rows.mean(2, true);
    const at::Tensor variance = rows.sub(mean).square().mean(2);
    update(mean.squeeze(2).t(), variance.t(), positions_of(x));
  }

 private:
  /// Rows are the samples of a channel, one group each.
  static Arrangement by_instance(const ConstImages& i) {
    return {.groups = i.channels,
            .rows = i.samples,
            .cols = i.positions,
            .group_stride = i.channel_stride,
            .row_stride = i.sample_stride,
            .column_stride = i.position_stride};
  }

  /// Statistics (channels, samples).
  void update(const at::Tensor& mean, const at::Tensor& variance, std::int64_t count) const {
    if (mean.size(1) > 0 && count > 0) running_.update(mean.mean(1), variance.mean(1), count);
  }

  RunningStatistics running_;
};

class ImageLayerNormOperator final : public ImageNorm {
 public:
  ImageLayerNormOperator(const char* name, LayerAxes axes, double eps)
      : ImageNorm(name), axes_(axes), eps_(eps) {}

  void forward(const NormInputs& in, const at::Tensor& y) const override {
    const ImageView x(in.x);
    const ParameterView gamma = parameter_view(in.weight);
    const ParameterView beta = parameter_view(in.bias);
    check_status(name(), image_layer_norm_forward({.x = x.images(),
                                                   .axes = axes_,
                                                   .gamma = gamma.vector(),
                                                   .beta = beta.vector(),
                                                   .eps = eps_,
                                                   .y = output_images(y)},
                                                  context()));
  }

  void backward(const at::Tensor& dy, const NormInputs& in, const NormInputs& d) const override {
    const ImageView dy_view(dy);
    const ImageView x(in.x);
    const ParameterView gamma = parameter_view(in.weight);
    check_status(name(), image_layer_norm_backward({.dy = dy_view.images(),
                                                    .x = x.images(),
                                                    .axes = axes_,
                                                    .gamma = gamma.vector(),
                                                    .eps = eps_,
                                                    .dx = output_images(d.x),
                                                    .dgamma = output_vector(d.weight),
                                                    .dbeta = output_vector(d.bias)},
                                                   context()));
  }

  [[nodiscard]] at::Tensor composite(const NormInputs& in) const override {
    if (axes_ == LayerAxes::sample) {
      return layer_norm_composite(in.x, in.x.dim() - 1, in.weight, in.bias, eps_);
    }
    return layer_norm_composite(in.x.movedim(1, -1), 1, in.weight, in.bias, eps_).movedim(-1, 1);
  }

 private:
  LayerAxes axes_;
  double eps_;
};

}  // namespace equinorm::torch::detail
