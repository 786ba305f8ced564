// The feed-forward sublayer: linear, ReLU, a norm where the placement has one there, linear.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "lab/models/forward_context.hpp"
#include "lab/models/layer_options.hpp"
#include "lab/models/norm_layer.hpp"
#include "lab/models/parameters.hpp"

namespace equinorm::lab {

class FeedForward {
 public:
  FeedForward(const LayerPlace& place, const LayerOptions& options, ParameterStore& parameters);

  /// x (rows, width) -> the same shape.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, const ForwardContext& context) const;

 private:
  at::Tensor fc1_weight_;
  at::Tensor fc1_bias_;
  std::unique_ptr<NormLayer> norm_;
  at::Tensor fc2_weight_;
  at::Tensor fc2_bias_;
};

}  // namespace equinorm::lab
