// A layer is its sublayers in order; each ResidualConnection does what the placement says.
#include "lab/models/layer_stack.hpp"

#include <string>

namespace equinorm::lab {

// The members are made in the order of their declaration.
TransformerLayer::TransformerLayer(const LayerPlace& place, const LayerOptions& options,
                                   ParameterStore& parameters)
    : adds_input_(options.placement->layer_input),
      attention_(place, options, parameters),
      attention_residual_(options, place, "1", Part::attention, parameters),
      cross_(options.cross ? std::make_optional<CrossAttention>(place, options, parameters)
                           : std::nullopt),
      cross_residual_(options.cross ? std::make_optional<ResidualConnection>(
                                          options, place, "_cross", Part::attention, parameters)
                                    : std::nullopt),
      ffn_(place, options, parameters),
      ffn_residual_(options, place, "2", Part::ffn, parameters) {}

at::Tensor TransformerLayer::forward(const at::Tensor& input, const SequenceLayout& layout,
                                     const Memory* memory, LayerCache* cache,
                                     const ForwardContext& context) const {
  at::Tensor x = attention_residual_.forward(
      input,
      [&](const at::Tensor& y) {
        return attention_.forward(y, layout, cache == nullptr ? nullptr : &cache->self, context);
      },
      context);
  if (cross_) {
    x = cross_residual_->forward(
        x,
        [&](const at::Tensor& y) {
          return cross_->forward(y, layout, *memory, cache == nullptr ? nullptr : &cache->cross,
                                 context);
        },
        context);
  }
  return ffn_residual_.forward(
      x, [&](const at::Tensor& y) { return ffn_.forward(y, context); }, context,
      adds_input_ ? input : at::Tensor{});
}

LayerStack::LayerStack(const LayerOptions& options, ParameterStore& parameters)
    : first_layer_(options.first_layer) {
  for (int i = 0; i < options.depth; ++i) {
    const LayerPlace place{options.prefix + "layers." + std::to_string(i), first_layer_ + i};
    layers_.emplace_back(place, options, parameters);
  }
  if (options.placement->norm_final) {
    final_norm_ =
        make_norm(options.norm_name(),
                  options.norm_place(options.prefix + "final_norm", -1, options.width), parameters);
  }
}

at::Tensor LayerStack::forward(at::Tensor x, const SequenceLayout& layout, const Memory* memory,
                               DecodingState* state, const ForwardContext& context) const {
  if (context.profile != nullptr) *context.profile = {};
  if (state != nullptr) state->layers.resize(layers_.size());
  Rounding* rounding = Rounding::active();
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    LayerCache* cache = state == nullptr ? nullptr : &state->layers[i];
    if (rounding != nullptr) rounding->enter_layer(first_layer_ + static_cast<int>(i));
    x = layers_[i].forward(x, layout, memory, cache, context);
    if (context.observer != nullptr) {
      context.observer->saw_layer(first_layer_ + static_cast<int>(i), x);
    }
  }
  if (rounding != nullptr) rounding->enter_layer(-1);
  if (state != nullptr) state->tokens += layout.tokens;
  return normalize(final_norm_, x, context);
}

}  // namespace equinorm::lab
