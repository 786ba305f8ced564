// The Transformer with one stack. The stream is one matrix (samples * tokens, width) throughout, so
// that norms and linear layers see plain rows.
#include "lab/models/transformer.hpp"

#include <ATen/core/grad_mode.h>

#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

LayerOptions layer_options(const TransformerOptions& options) {
  const auto depth = static_cast<int>(options.depth);
  const Placement& placement = placement_named(options.placement);
  LayerOptions layers;
  layers.placement = &placement;
  layers.constants = options.causal ? constants_of(placement, Stack::decoder, {0, depth})
                                    : constants_of(placement, Stack::encoder, {depth, 0});
  if (options.placement_parts == "residual") layers.constants = {layers.constants.residual, 1, 1};
  if (options.placement_parts == "weights") layers.constants.residual = 1;
  layers.norm = options.norm;
  layers.norm_choice = options.norm_choice;
  layers.qk_norm = options.qk_norm;
  layers.tokens = options.tokens;
  layers.depth = options.depth;
  layers.width = options.width;
  layers.heads = options.heads;
  layers.ffn = options.ffn;
  layers.dropout = options.dropout;
  layers.dropout_place = options.dropout_place;
  layers.causal = options.causal;
  return layers;
}

}  // namespace

// The members are made in the order of their declaration.
Transformer::Transformer(const TransformerOptions& options)
    : options_(options),
      parameters_(options.seed, options.dtype),
      embedding_({options.vocabulary, options.features, options.tokens}, layer_options(options),
                 parameters_),
      layers_(layer_options(options), parameters_),
      head_(options.width, options.outputs, parameters_) {}

at::Tensor Transformer::pool(const at::Tensor& x, const SequenceLayout& layout) const {
  const at::Tensor grouped = x.view({layout.samples, layout.tokens, options_.width});
  if (!layout.key_mask.defined()) return grouped.mean(1);
  const at::Tensor mask = layout.key_mask.unsqueeze(2);
  return grouped.masked_fill(mask.logical_not(), 0).sum(1) / mask.sum(1);
}

at::Tensor Transformer::forward(const at::Tensor& input, const ForwardContext& context,
                                const at::Tensor& key_mask) const {
  const SequenceLayout layout{input.size(0), input.size(1), options_.causal, key_mask};
  const ForwardContext masked = for_tokens(context, layout.tokens, key_mask);
  const at::Tensor x =
      layers_.forward(embedding_.forward(input, 0, masked), layout, nullptr, nullptr, masked);
  const Section section(context, Part::head);
  return stored(head_.forward(options_.causal || !options_.pooled ? x : pool(x, layout)));
}

at::Tensor Transformer::step(const at::Tensor& input, DecodingState& state,
                             const at::Tensor& key_mask) const {
  if (!options_.causal) throw UsageError("causal = false: only a causal model generates");
  const SequenceLayout layout{input.size(0), input.size(1), true, key_mask};
  const ForwardContext context = for_step(layout.tokens, state.tokens);
  const at::Tensor x = embedding_.forward(input, state.tokens, context);
  return head_.forward(layers_.forward(x, layout, nullptr, &state, context));
}

void Transformer::profile(const at::Tensor& input, const at::Tensor& key_mask) const {
  if (placement_named(options_.placement).residual_scale != ResidualScale::profiled) return;
  const at::NoGradGuard no_grad;
  VarianceProfile profile;
  ForwardContext context;
  context.training = true;
  context.profile = &profile;
  static_cast<void>(forward(input, context, key_mask));
}

}  // namespace equinorm::lab
