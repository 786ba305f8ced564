// The two blocks that articles about LayerNorm print as code, as they print them.
//
//   TransformerLayer   attention, feed-forward with ReLU, dropout, LayerNorm behind each addition
//                      ("post") or before each sublayer ("pre"), with the masks that the article's
//                      code lacks
//   ResNetBlockWithLN  conv, LayerNorm([C, H, W]), ReLU, conv, LayerNorm([C, H, W]); ReLU behind
//   the
//                      addition
//
// Examples to read and to build on; the lab's experiments use transformer.hpp and resnet.hpp. The
// one trap: with norm_position = "pre" the layer has no final norm, which a model adds behind its
// last layer.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "lab/models/block_attention.hpp"
#include "lab/models/forward_context.hpp"
#include "lab/models/linear.hpp"
#include "lab/models/parameters.hpp"
#include "lab/models/resnet.hpp"

namespace equinorm::lab {

struct TransformerLayerOptions {
  std::int64_t width = 0;
  std::int64_t heads = 1;
  std::int64_t hidden = 0;  ///< of the feed-forward sublayer
  double dropout = 0.1;     ///< on each sublayer's output, before the addition
  std::string norm_position = "post";
};

class TransformerLayer {
 public:
  /// Throws UsageError for a norm_position that is neither "post" nor "pre".
  TransformerLayer(const std::string& prefix, int layer, const TransformerLayerOptions& options,
                   ParameterStore& parameters);

  /// x (samples, tokens, width) -> the same shape. Dropout is off unless context.training.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, const AttentionMask& mask,
                                   const ForwardContext& context) const;

 private:
  struct Norm {
    at::Tensor gamma;
    at::Tensor beta;
    [[nodiscard]] at::Tensor forward(const at::Tensor& x) const;
  };
  static Norm make_norm_of(const std::string& prefix, int layer, std::int64_t width,
                           ParameterStore& parameters);

  bool pre_;
  double dropout_;
  BlockAttention attention_;
  Norm norm1_;
  Linear fc1_;
  Linear fc2_;
  Norm norm2_;
};

struct ResNetBlockWithLNOptions {
  std::int64_t inputs = 0;   ///< channels
  std::int64_t outputs = 0;  ///< channels
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t stride = 1;
};

class ResNetBlockWithLN {
 public:
  ResNetBlockWithLN(const std::string& prefix, int layer, const ResNetBlockWithLNOptions& options,
                    ParameterStore& parameters);

  /// x (samples, inputs, height, width), of just that size -> (samples, outputs, ...).
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const { return block_.forward(x, false); }

 private:
  ResNetBlock block_;
};

}  // namespace equinorm::lab
