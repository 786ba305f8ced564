// The feed-forward sublayer: linear, ReLU, linear.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "lab/models/parameters.hpp"

namespace equinorm::lab {

class FeedForward {
 public:
  FeedForward(const std::string& prefix, int layer, std::int64_t width, std::int64_t hidden,
              ParameterStore& parameters);

  /// x (rows, width) -> the same shape.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const;

 private:
  at::Tensor fc1_weight_;
  at::Tensor fc1_bias_;
  at::Tensor fc2_weight_;
  at::Tensor fc2_bias_;
};

}  // namespace equinorm::lab
