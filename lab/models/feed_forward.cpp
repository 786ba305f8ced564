// The feed-forward sublayer; ReLU works in place on the projection, which nothing else reads.
#include "lab/models/feed_forward.hpp"

#include <ATen/ops/linear.h>

namespace equinorm::lab {

FeedForward::FeedForward(const std::string& prefix, int layer, std::int64_t width,
                         std::int64_t hidden, ParameterStore& parameters) {
  const auto d = static_cast<double>(width);
  const auto h = static_cast<double>(hidden);
  fc1_weight_ =
      parameters.xavier({prefix + ".fc1.weight", ParameterKind::fc1, layer}, {hidden, width}, d, h);
  fc1_bias_ = parameters.constant({prefix + ".fc1.bias", ParameterKind::fc1, layer}, {hidden}, 0);
  fc2_weight_ =
      parameters.xavier({prefix + ".fc2.weight", ParameterKind::fc2, layer}, {width, hidden}, h, d);
  fc2_bias_ = parameters.constant({prefix + ".fc2.bias", ParameterKind::fc2, layer}, {width}, 0);
}

at::Tensor FeedForward::forward(const at::Tensor& x) const {
  return at::linear(at::linear(x, fc1_weight_, fc1_bias_).relu_(), fc2_weight_, fc2_bias_);
}

}  // namespace equinorm::lab
