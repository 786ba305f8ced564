// Norms of images (samples, channels, height, width), by name, behind one table.
//
//   none       no norm
//   batch      per channel over the batch and the image; running averages for evaluation
//   group      per sample and group of channels (Wu and He 2018)
//   instance   group with a group per channel (Ulyanov et al. 2016)
//   layer_chw  LayerNorm over (C, H, W), gain and bias per element
//   layer_2d   LayerNorm over C at each point, eps 1e-6 (ConvNeXt, Liu et al. 2022)
//
// Not here: norms of token streams (norm_layer.hpp). The one trap: layer_chw fixes the height and
// width of its input when it is made.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lab/models/parameters.hpp"

namespace equinorm::lab {

/// Where an image norm belongs and what it normalizes.
struct ImageNormPlace {
  std::string prefix;  ///< of parameter names
  int layer = -1;
  std::int64_t channels = 0;
  std::int64_t height = 0;  ///< only layer_chw looks at it
  std::int64_t width = 0;   ///< likewise
  std::int64_t groups = 1;  ///< only group looks at it; divides channels
};

class ImageNorm {
 public:
  virtual ~ImageNorm() = default;
  /// The same shape. Only batch looks at `training`, and updates its averages there.
  virtual at::Tensor forward(const at::Tensor& x, bool training) = 0;
};

/// The names above, in that order.
std::vector<std::string> image_norm_names();

/// Null for "none". Throws UsageError for a name that is not in image_norm_names() and for groups
/// that do not divide the channels.
std::unique_ptr<ImageNorm> make_image_norm(const std::string& name, const ImageNormPlace& place,
                                           ParameterStore& parameters);

/// x itself where there is no norm.
inline at::Tensor normalize(const std::unique_ptr<ImageNorm>& norm, const at::Tensor& x,
                            bool training) {
  return norm ? norm->forward(x, training) : x;
}

}  // namespace equinorm::lab
