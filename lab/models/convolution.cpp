// A 2-D convolution with its parameters.
#include "lab/models/convolution.hpp"

#include <ATen/ops/conv2d.h>

#include <optional>

namespace equinorm::lab {

Convolution::Convolution(const std::string& prefix, int layer, const ConvolutionOptions& options,
                         ParameterStore& parameters)
    : kernel_(options.kernel), stride_(options.stride), groups_(options.groups) {
  const std::int64_t inputs = options.inputs / options.groups;
  // Uniform with the variance 2 / fan_in (He et al. 2015): Glorot's bound without a fan_out.
  weight_ = parameters.xavier({prefix + ".weight", ParameterKind::fc1, layer},
                              {options.outputs, inputs, kernel_, kernel_},
                              static_cast<double>(inputs * kernel_ * kernel_), 0);
  if (options.bias) {
    bias_ =
        parameters.constant({prefix + ".bias", ParameterKind::fc1, layer}, {options.outputs}, 0);
  }
}

at::Tensor Convolution::forward(const at::Tensor& x) const {
  const auto bias = bias_.defined() ? std::optional<at::Tensor>(bias_) : std::nullopt;
  const std::int64_t padding = kernel_ / 2;
  return at::conv2d(x, weight_, bias, {stride_, stride_}, {padding, padding}, {1, 1}, groups_);
}

}  // namespace equinorm::lab
