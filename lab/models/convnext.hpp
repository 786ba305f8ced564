// The ConvNeXt block (Liu et al. 2022):
//
//   x + layer_scale * conv1x1(GELU(conv1x1(norm(depthwise 7x7(x)))))
//
// with four times the channels between the two 1x1 convolutions and a layer scale per channel that
// starts at 1e-6, so that each block starts as the identity, nearly. Any image norm fits; the
// article's is layer_2d.
//
// Not here: stochastic depth and a whole ConvNeXt. The one trap: GELU is the exact one, with erf.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>

#include "lab/models/convolution.hpp"
#include "lab/models/image_norm.hpp"
#include "lab/models/parameters.hpp"

namespace equinorm::lab {

struct ConvNextOptions {
  std::string norm = "layer_2d";
  std::int64_t channels = 0;
  std::int64_t height = 0;  ///< for the norm "layer_chw"
  std::int64_t width = 0;   ///< likewise
  std::int64_t groups = 1;  ///< of the norm "group"
  double layer_scale = 1e-6;
};

class ConvNextBlock {
 public:
  ConvNextBlock(const std::string& prefix, int layer, const ConvNextOptions& options,
                ParameterStore& parameters);

  /// x (samples, channels, H, W) -> the same shape.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, bool training) const;

 private:
  Convolution depthwise_;
  std::unique_ptr<ImageNorm> norm_;
  Convolution expand_;
  Convolution reduce_;
  at::Tensor layer_scale_;  ///< (channels)
};

}  // namespace equinorm::lab
