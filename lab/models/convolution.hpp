// A 2-D convolution with its parameters: square kernel, zero padding of half the kernel, Kaiming's
// initial weights.
//
// Not a framework's layer: no dilation and no other padding, which no model here has.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "lab/models/parameters.hpp"

namespace equinorm::lab {

struct ConvolutionOptions {
  std::int64_t inputs = 0;   ///< channels
  std::int64_t outputs = 0;  ///< channels
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  std::int64_t groups = 1;  ///< equal to inputs: depthwise
  bool bias = true;
};

class Convolution {
 public:
  Convolution(const std::string& prefix, int layer, const ConvolutionOptions& options,
              ParameterStore& parameters);

  /// x (samples, inputs, H, W) -> (samples, outputs, ceil(H / stride), ceil(W / stride)), for odd
  /// kernels.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const;

 private:
  std::int64_t kernel_;
  std::int64_t stride_;
  std::int64_t groups_;
  at::Tensor weight_;
  at::Tensor bias_;
};

}  // namespace equinorm::lab
