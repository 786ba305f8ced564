// The blocks of the articles.
#include "lab/models/articles.hpp"

#include "equinorm/torch/functional.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {

at::Tensor TransformerLayer::Norm::forward(const at::Tensor& x) const {
  return equinorm::torch::layer_norm(x, gamma.sizes(), gamma, beta, 1e-5);
}

TransformerLayer::Norm TransformerLayer::make_norm_of(const std::string& prefix, int layer,
                                                      std::int64_t width,
                                                      ParameterStore& parameters) {
  return {parameters.constant({prefix + ".gamma", ParameterKind::gamma, layer}, {width}, 1),
          parameters.constant({prefix + ".beta", ParameterKind::beta, layer}, {width}, 0)};
}

TransformerLayer::TransformerLayer(const std::string& prefix, int layer,
                                   const TransformerLayerOptions& options,
                                   ParameterStore& parameters)
    : pre_(options.norm_position == "pre"),
      dropout_(options.dropout),
      attention_(prefix, layer, options.width, options.heads, parameters),
      norm1_(make_norm_of(prefix + ".norm1", layer, options.width, parameters)),
      fc1_({prefix + ".fc1", ParameterKind::fc1, layer}, {options.width, options.hidden},
           Linear::Start::xavier, parameters),
      fc2_({prefix + ".fc2", ParameterKind::fc2, layer}, {options.hidden, options.width},
           Linear::Start::xavier, parameters),
      norm2_(make_norm_of(prefix + ".norm2", layer, options.width, parameters)) {
  if (!pre_ && options.norm_position != "post") {
    throw UsageError("norm_position = '" + options.norm_position + "': must be post or pre");
  }
}

at::Tensor TransformerLayer::forward(const at::Tensor& x, const AttentionMask& mask,
                                     const ForwardContext& context) const {
  const auto attend = [&](const at::Tensor& t) {
    return dropout(attention_.forward(t, mask), dropout_, context);
  };
  const auto feed_forward = [&](const at::Tensor& t) {
    return dropout(fc2_.forward(fc1_.forward(t).relu()), dropout_, context);
  };
  if (pre_) {
    const at::Tensor attended = x + attend(norm1_.forward(x));
    return attended + feed_forward(norm2_.forward(attended));
  }
  const at::Tensor attended = norm1_.forward(x + attend(x));
  return norm2_.forward(attended + feed_forward(attended));
}

ResNetBlockWithLN::ResNetBlockWithLN(const std::string& prefix, int layer,
                                     const ResNetBlockWithLNOptions& options,
                                     ParameterStore& parameters)
    : block_(prefix, layer,
             {.norm = "layer_chw",
              .order = BlockOrder::conv_norm_act,
              .inputs = options.inputs,
              .outputs = options.outputs,
              .stride = options.stride,
              .height = options.height,
              .width = options.width},
             parameters) {}

}  // namespace equinorm::lab
