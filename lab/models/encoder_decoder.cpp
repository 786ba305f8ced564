// The encoder-decoder: two stacks of the layers that the other models use.
#include "lab/models/encoder_decoder.hpp"

#include <ATen/core/grad_mode.h>

#include <algorithm>

namespace equinorm::lab {
namespace {

LayerOptions stack_options(const EncoderDecoderOptions& options, Stack stack) {
  const bool decoder = stack == Stack::decoder;
  const Placement& placement = placement_named(options.placement);
  LayerOptions layers;
  layers.placement = &placement;
  layers.constants = constants_of(
      placement, stack,
      {static_cast<int>(options.encoder_depth), static_cast<int>(options.decoder_depth)});
  layers.norm = options.norm;
  layers.qk_norm = options.qk_norm;
  layers.tokens = std::max(options.source.tokens, options.target.tokens);
  layers.prefix = decoder ? "decoder." : "encoder.";
  layers.first_layer = decoder ? static_cast<int>(options.encoder_depth) : 0;
  layers.depth = decoder ? options.decoder_depth : options.encoder_depth;
  layers.width = options.width;
  layers.heads = options.heads;
  layers.ffn = options.ffn;
  layers.dropout = options.dropout;
  layers.causal = decoder;
  layers.cross = decoder;
  return layers;
}

}  // namespace

// The members are made in the order of their declaration.
EncoderDecoder::EncoderDecoder(const EncoderDecoderOptions& options)
    : options_(options),
      parameters_(options.seed, options.dtype),
      source_embedding_(options.source, stack_options(options, Stack::encoder), parameters_),
      encoder_(stack_options(options, Stack::encoder), parameters_),
      target_embedding_(options.target, stack_options(options, Stack::decoder), parameters_),
      decoder_(stack_options(options, Stack::decoder), parameters_),
      head_(options.width, options.outputs, parameters_) {}

ForwardContext EncoderDecoder::norm_context(const ForwardContext& context,
                                            const SequenceLayout& layout) const {
  return for_tokens(context, layout.tokens,
                    options_.norms_count_padding ? at::Tensor{} : layout.key_mask);
}

Memory EncoderDecoder::encode(const at::Tensor& source, const ForwardContext& context,
                              const at::Tensor& source_mask) const {
  const SequenceLayout layout{source.size(0), source.size(1), false, source_mask};
  const ForwardContext masked = norm_context(context, layout);
  const at::Tensor x = source_embedding_.forward(source, 0, masked);
  return {encoder_.forward(x, layout, nullptr, nullptr, masked), layout.tokens, source_mask};
}

at::Tensor EncoderDecoder::decode(const Memory& memory, const at::Tensor& target,
                                  const ForwardContext& context,
                                  const at::Tensor& target_mask) const {
  const SequenceLayout layout{target.size(0), target.size(1), true, target_mask};
  const ForwardContext masked = norm_context(context, layout);
  const at::Tensor x = target_embedding_.forward(target, 0, masked);
  return head_.forward(decoder_.forward(x, layout, &memory, nullptr, masked));
}

at::Tensor EncoderDecoder::forward(const at::Tensor& source, const at::Tensor& target,
                                   const ForwardContext& context, const at::Tensor& source_mask,
                                   const at::Tensor& target_mask) const {
  return decode(encode(source, context, source_mask), target, context, target_mask);
}

at::Tensor EncoderDecoder::step(const Memory& memory, const at::Tensor& target,
                                DecodingState& state, const at::Tensor& target_mask) const {
  const SequenceLayout layout{target.size(0), target.size(1), true, target_mask};
  const ForwardContext context = for_step(layout.tokens, state.tokens);
  const at::Tensor x = target_embedding_.forward(target, state.tokens, context);
  return head_.forward(decoder_.forward(x, layout, &memory, &state, context));
}

void EncoderDecoder::profile(const at::Tensor& source, const at::Tensor& target,
                             const at::Tensor& source_mask, const at::Tensor& target_mask) const {
  if (placement_named(options_.placement).residual_scale != ResidualScale::profiled) return;
  const at::NoGradGuard no_grad;
  VarianceProfile profile;
  ForwardContext context;
  context.training = true;
  context.profile = &profile;
  static_cast<void>(forward(source, target, context, source_mask, target_mask));
}

}  // namespace equinorm::lab
