// The output layer of every model: one linear map from the stream to logits. No softmax, no loss.
#pragma once

#include <ATen/ops/linear.h>

#include <cstdint>

#include "lab/models/parameters.hpp"

namespace equinorm::lab {

class OutputLayer {
 public:
  OutputLayer(std::int64_t width, std::int64_t outputs, ParameterStore& parameters)
      : weight_(parameters.xavier({"head.weight", ParameterKind::head}, {outputs, width},
                                  static_cast<double>(width), static_cast<double>(outputs))),
        bias_(parameters.constant({"head.bias", ParameterKind::head}, {outputs}, 0)) {}

  /// x (rows, width) -> (rows, outputs)
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const {
    return at::linear(x, weight_, bias_);
  }

 private:
  at::Tensor weight_;
  at::Tensor bias_;
};

}  // namespace equinorm::lab
