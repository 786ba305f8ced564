// The feed-forward sublayer; ReLU works in place on the projection, which nothing else reads.
#include "lab/models/feed_forward.hpp"

#include <ATen/ops/linear.h>

#include <string>

namespace equinorm::lab {

FeedForward::FeedForward(const LayerPlace& place, const LayerOptions& options,
                         ParameterStore& parameters) {
  const std::int64_t width = options.width;
  const std::int64_t hidden = options.ffn;
  const auto d = static_cast<double>(width);
  const auto h = static_cast<double>(hidden);
  const auto id = [&](const std::string& name, ParameterKind kind) {
    return ParameterId{place.prefix + name, kind, place.layer};
  };
  fc1_weight_ = parameters.xavier(id(".fc1.weight", ParameterKind::fc1), {hidden, width}, d, h,
                                  options.draw());
  fc1_bias_ = parameters.constant(id(".fc1.bias", ParameterKind::fc1), {hidden}, 0);
  if (options.placement->norm_hidden) {
    norm_ = make_norm(options.norm_name(),
                      options.norm_place(place.prefix + ".norm_hidden", place.layer, hidden),
                      parameters);
  }
  fc2_weight_ = parameters.xavier(id(".fc2.weight", ParameterKind::fc2), {width, hidden}, h, d,
                                  options.draw());
  fc2_bias_ = parameters.constant(id(".fc2.bias", ParameterKind::fc2), {width}, 0);
  scale_initial(fc1_weight_, options.constants.weights);
  scale_initial(fc2_weight_, options.constants.weights);
}

at::Tensor FeedForward::forward(const at::Tensor& x, const ForwardContext& context) const {
  at::Tensor hidden;
  {
    const Section section(context, Part::ffn);
    hidden = at::linear(x, fc1_weight_, fc1_bias_).relu_();
  }
  hidden = normalize(norm_, hidden, context);
  const Section section(context, Part::ffn);
  return at::linear(hidden, fc2_weight_, fc2_bias_);
}

}  // namespace equinorm::lab
