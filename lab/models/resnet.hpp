// Residual networks for small images, with every image norm in three orders. A block's branch is
//
//   conv_norm_act   conv, norm, ReLU, conv, norm; ReLU behind the addition (He et al. 2016a)
//   conv_act_norm   conv, ReLU, norm, conv, ReLU, norm; nothing behind the addition
//   pre_activation  norm, ReLU, conv, norm, ReLU, conv; nothing behind the addition, and a norm and
//                   a ReLU behind the last block (He et al. 2016b)
//
// Where a block halves the image or changes the channels, its shortcut is a 1x1 convolution, with a
// norm but for pre_activation, where it starts from the normalized input as the branch does.
// Convolutions have a bias only without norms.
//
// The one trap: layer_chw ties a network to the size of its images.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/models/convolution.hpp"
#include "lab/models/image_norm.hpp"
#include "lab/models/parameters.hpp"

namespace equinorm::lab {

enum class BlockOrder { conv_norm_act, conv_act_norm, pre_activation };

/// "conv_norm_act", "conv_act_norm", "pre_activation".
std::vector<std::string> block_order_names();
/// Throws UsageError for another name.
BlockOrder block_order(const std::string& name);

struct ResNetBlockOptions {
  std::string norm = "batch";
  BlockOrder order = BlockOrder::conv_norm_act;
  std::int64_t inputs = 0;   ///< channels
  std::int64_t outputs = 0;  ///< channels
  std::int64_t stride = 1;
  std::int64_t height = 0;  ///< of the input
  std::int64_t width = 0;   ///< of the input
  std::int64_t groups = 1;  ///< of the norm "group"
};

class ResNetBlock {
 public:
  ResNetBlock(const std::string& prefix, int layer, const ResNetBlockOptions& options,
              ParameterStore& parameters);

  /// x (samples, inputs, height, width) -> (samples, outputs, ceil(height / stride), ...).
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, bool training) const;

 private:
  [[nodiscard]] at::Tensor shortcut(const at::Tensor& x, bool training) const;

  BlockOrder order_;
  Convolution conv1_;
  Convolution conv2_;
  std::unique_ptr<ImageNorm> norm1_;
  std::unique_ptr<ImageNorm> norm2_;
  std::optional<Convolution> projection_;
  std::unique_ptr<ImageNorm> projection_norm_;
};

struct ResNetOptions {
  std::string norm = "batch";
  std::string order = "conv_norm_act";
  std::int64_t blocks = 1;  ///< per stage, of three: 1 is ResNet-8, 2 is ResNet-14
  std::int64_t width = 16;  ///< channels of the first stage; doubles with each
  std::int64_t channels = 1;
  std::int64_t size = 28;  ///< height and width of an image
  std::int64_t outputs = 10;
  std::int64_t groups = 8;  ///< of the norm "group"
  std::uint64_t seed = 0;
  at::ScalarType dtype = at::kFloat;
};

class ResNet {
 public:
  explicit ResNet(const ResNetOptions& options);

  /// images (samples, channels, size, size) -> scores (samples, outputs).
  [[nodiscard]] at::Tensor forward(const at::Tensor& images, bool training) const;

  [[nodiscard]] const ParameterStore& parameters() const { return parameters_; }

 private:
  BlockOrder order_;
  ParameterStore parameters_;
  Convolution stem_;
  std::unique_ptr<ImageNorm> stem_norm_;  ///< null for pre_activation
  std::vector<ResNetBlock> blocks_;
  std::unique_ptr<ImageNorm> final_norm_;  ///< of pre_activation
  at::Tensor head_weight_;
  at::Tensor head_bias_;
};

}  // namespace equinorm::lab
