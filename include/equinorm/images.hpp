// Norms over samples, channels and positions: GroupNorm, InstanceNorm, LayerNorm over channels or
// over whole samples, and BatchNorm, in any memory layout and with the same bits in each.
//
// A position is a pixel, a time step, or whatever is not a sample or a channel; tokens x features
// is an image with one position. The one trap: what a channel's parameters multiply is decided by
// the channel, what is averaged by the norm; see each operator.
#pragma once

#include "equinorm/context.hpp"
#include "equinorm/grouped_norm.hpp"
#include "equinorm/status.hpp"
#include "equinorm/types.hpp"

namespace equinorm {

/// Element (n, c, s) at data + n * sample_stride + c * channel_stride + s * position_stride
/// elements.
struct ConstImages {
  const void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t samples = 0;
  std::int64_t channels = 0;
  std::int64_t positions = 1;
  std::int64_t sample_stride = 0;
  std::int64_t channel_stride = 0;
  std::int64_t position_stride = 1;
};

/// Writable; no two elements in one place.
struct Images {
  void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t samples = 0;
  std::int64_t channels = 0;
  std::int64_t positions = 1;
  std::int64_t sample_stride = 0;
  std::int64_t channel_stride = 0;
  std::int64_t position_stride = 1;

  operator ConstImages() const noexcept {
    return {data,      dtype,         samples,        channels,
            positions, sample_stride, channel_stride, position_stride};
  }
};

/// y = gamma_c (x - mean) / sqrt(var + eps) + beta_c, mean and biased variance over the channels of
/// a group and all positions of a sample. gamma and beta (channels), optional. groups divides
/// channels; groups = channels is InstanceNorm. Source: Wu, He 2018, "Group Normalization"; Ulyanov
/// 2016; torch.nn.GroupNorm, InstanceNorm2d. Types, aliasing (y may be x itself) and bound of y as
/// grouped_norm_forward.
struct GroupNormForward {
  ConstImages x;
  std::int64_t groups = 1;
  ConstVector gamma;
  ConstVector beta;
  double eps = 1e-5;
  Images y;
};
Status group_norm_forward(const GroupNormForward& args, Context& context) noexcept;

/// Gradients of group_norm_forward, as grouped_norm_backward; dgamma and dbeta (channels).
struct GroupNormBackward {
  ConstImages dy;
  ConstImages x;
  std::int64_t groups = 1;
  ConstVector gamma;
  double eps = 1e-5;
  Images dx;
  Vector dgamma;
  Vector dbeta;
};
Status group_norm_backward(const GroupNormBackward& args, Context& context) noexcept;

/// What one row of a LayerNorm over images is.
enum class LayerAxes : std::uint8_t {
  channels,  ///< all channels of one position: ConvNeXt's LayerNorm2d, eps 1e-6 there
  sample,    ///< all channels and positions: torch.nn.LayerNorm([C, H, W])
};

/// LayerNorm with statistics over `axes`; gamma and beta (channels) for channels, (channels *
/// positions), position fastest, for sample.
/// Source: Liu 2022, "A ConvNet for the 2020s"; torch.nn.LayerNorm. The rest as layer_norm_forward.
struct ImageLayerNormForward {
  ConstImages x;
  LayerAxes axes = LayerAxes::channels;
  ConstVector gamma;
  ConstVector beta;
  double eps = 1e-6;
  Images y;
};
Status image_layer_norm_forward(const ImageLayerNormForward& args, Context& context) noexcept;

/// Gradients of image_layer_norm_forward, as layer_norm_backward.
struct ImageLayerNormBackward {
  ConstImages dy;
  ConstImages x;
  LayerAxes axes = LayerAxes::channels;
  ConstVector gamma;
  double eps = 1e-6;
  Images dx;
  Vector dgamma;
  Vector dbeta;
};
Status image_layer_norm_backward(const ImageLayerNormBackward& args, Context& context) noexcept;

/// Which elements the statistics of a channel are of.
struct BatchNormOptions {
  double eps = 1e-5;
  /// Statistics of the batch; otherwise the running ones, which the gradient takes as constant.
  bool training = true;
  /// Statistics for each position apart, as for time steps (Cooijmans 2016).
  bool per_position = false;
  /// samples * positions bytes, sample by sample. Where one is 0 (padding) the elements have no
  /// part in the statistics and the gradients, and y and dx are 0. Null: all count. Not with
  /// per_position.
  const std::uint8_t* mask = nullptr;
};

/// y = gamma_c (x - mean_c) / sqrt(var_c + eps) + beta_c, mean and biased variance over samples and
/// positions.
/// Source: Ioffe, Szegedy 2015; torch.nn.BatchNorm1d and 2d.
///
/// gamma, beta (channels), optional. running_mean, running_variance: (channels); per position
/// (steps * channels), step by step, and later positions use those of the last step. In training
/// they are optional and become (1 - momentum) * old + momentum * new, with the unbiased variance,
/// in f64, rounded once; where no element counts they stay. Otherwise they are read, and needed.
/// Types and bounds as grouped_norm_forward. y may be x itself.
struct BatchNormForward {
  ConstImages x;
  BatchNormOptions options;
  ConstVector gamma;
  ConstVector beta;
  Vector running_mean;
  Vector running_variance;
  double momentum = 0.1;  ///< in [0, 1]
  Images y;
};
Status batch_norm_forward(const BatchNormForward& args, Context& context) noexcept;

/// Gradients of batch_norm_forward; statistics of the batch are computed anew.
struct BatchNormBackward {
  ConstImages dy;
  ConstImages x;
  BatchNormOptions options;
  ConstVector gamma;
  ConstVector running_mean;      ///< not in training
  ConstVector running_variance;  ///< likewise
  Images dx;
  Vector dgamma;
  Vector dbeta;
};
Status batch_norm_backward(const BatchNormBackward& args, Context& context) noexcept;

}  // namespace equinorm
