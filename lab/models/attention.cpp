// Attention: packed projections, LibTorch's fused softmax(q k^T / sqrt(d)) v, one projection back.
#include "lab/models/attention.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <cmath>
#include <optional>

namespace equinorm::lab {
namespace {

// (samples, 1, 1 or tokens, keys): which keys each query sees; undefined: all, or all up to its own
// place. The queries are the last ones of the keys.
at::Tensor self_attention_mask(const SequenceLayout& layout, std::int64_t keys) {
  const bool behind_others = layout.causal && layout.tokens > 1 && keys > layout.tokens;
  if (!layout.key_mask.defined() && !behind_others) return {};
  at::Tensor mask;
  if (layout.causal) {
    mask = at::ones({layout.tokens, keys}, at::kBool).tril(keys - layout.tokens);
    if (!layout.key_mask.defined()) return mask;
  }
  const at::Tensor real = layout.key_mask.view({layout.samples, 1, 1, keys});
  return layout.causal ? real.logical_and(mask) : real;
}

// (samples * tokens, parts * width) -> (parts, samples, heads, tokens, width / heads)
at::Tensor split_heads(const at::Tensor& x, std::int64_t samples, std::int64_t parts,
                       std::int64_t heads) {
  const std::int64_t tokens = x.size(0) / samples;
  return x.view({samples, tokens, parts, heads, x.size(1) / (parts * heads)})
      .permute({2, 0, 3, 1, 4});
}

void append(KeyValueCache& cache, const KeyValueCache& next) {
  if (!cache.keys.defined()) {
    cache = next;
    return;
  }
  cache.keys = at::cat({cache.keys, next.keys}, 2);
  cache.values = at::cat({cache.values, next.values}, 2);
}

}  // namespace

AttentionHeads::AttentionHeads(const std::string& prefix, int layer, const LayerOptions& options,
                               ParameterStore& parameters)
    : layer_(layer),
      qk_norm_(options.qk_norm, {prefix, layer, options.width / options.heads, options.tokens},
               parameters) {
  const auto d = static_cast<double>(options.width);
  out_weight_ = parameters.xavier({prefix + ".out.weight", ParameterKind::out, layer},
                                  {options.width, options.width}, d, d, options.draw());
  scale_initial(out_weight_, options.constants.weights);
  out_bias_ =
      parameters.constant({prefix + ".out.bias", ParameterKind::out, layer}, {options.width}, 0);
  if (options.placement->head_scale) {
    scale_ = parameters.constant({prefix + ".head_scale", ParameterKind::residual, layer},
                                 {options.heads}, 1);
  }
}

at::Tensor AttentionHeads::forward(const at::Tensor& given, const KeyValueCache& past,
                                   const at::Tensor& mask, bool causal,
                                   const ForwardContext& context) const {
  const at::Tensor query = qk_norm_.query(given);
  if (context.observer != nullptr) {
    const double usual = 1 / std::sqrt(static_cast<double>(query.size(3)));
    context.observer->saw_attention(
        layer_, {query, past.keys, qk_norm_.score_scale().value_or(usual), mask, causal});
  }
  at::Tensor mixed = at::scaled_dot_product_attention(
      query, past.keys, past.values,
      mask.defined() ? std::optional<at::Tensor>(mask) : std::nullopt, 0.0, causal,
      qk_norm_.score_scale());
  if (scale_.defined()) mixed = mixed * scale_.view({1, -1, 1, 1});
  const std::int64_t rows = query.size(0) * query.size(2);
  return at::linear(mixed.transpose(1, 2).reshape({rows, query.size(1) * query.size(3)}),
                    out_weight_, out_bias_);
}

namespace {

at::Tensor make_qkv(const LayerPlace& place, const LayerOptions& options,
                    ParameterStore& parameters) {
  const std::int64_t width = options.width;
  const auto d = static_cast<double>(width);
  // Three square matrices in one, hence the fans of one of them.
  at::Tensor weight =
      parameters.xavier({place.prefix + ".qkv.weight", ParameterKind::qkv, place.layer},
                        {3 * width, width}, d, d, options.draw());
  scale_initial(weight.slice(0, 2 * width), options.constants.weights);
  return weight;
}

}  // namespace

// The members are made in the order of their declaration.
SelfAttention::SelfAttention(const LayerPlace& place, const LayerOptions& options,
                             ParameterStore& parameters)
    : heads_(options.heads),
      qkv_weight_(make_qkv(place, options, parameters)),
      qkv_bias_(parameters.constant({place.prefix + ".qkv.bias", ParameterKind::qkv, place.layer},
                                    {3 * options.width}, 0)),
      mix_(place.prefix, place.layer, options, parameters) {}

at::Tensor SelfAttention::forward(const at::Tensor& x, const SequenceLayout& layout,
                                  KeyValueCache* cache, const ForwardContext& context) const {
  const Section section(context, Part::attention);
  const at::Tensor qkv =
      split_heads(at::linear(x, qkv_weight_, qkv_bias_), layout.samples, 3, heads_);
  KeyValueCache all{mix_.key(qkv.select(0, 1)), qkv.select(0, 2)};
  if (cache != nullptr) {
    append(*cache, all);
    all = *cache;
  }
  const std::int64_t keys = all.keys.size(2);
  const at::Tensor mask = self_attention_mask(layout, keys);
  const bool causal = layout.causal && !mask.defined() && keys == layout.tokens;
  return mix_.forward(qkv.select(0, 0), all, mask, causal, context);
}

namespace {

at::Tensor make_cross(const LayerPlace& place, const LayerOptions& options, const std::string& name,
                      std::int64_t parts, ParameterStore& parameters) {
  const auto d = static_cast<double>(options.width);
  return parameters.xavier({place.prefix + ".cross." + name, ParameterKind::qkv, place.layer},
                           {parts * options.width, options.width}, d, d, options.draw());
}

at::Tensor make_cross_bias(const LayerPlace& place, const std::string& name, std::int64_t size,
                           ParameterStore& parameters) {
  return parameters.constant({place.prefix + ".cross." + name, ParameterKind::qkv, place.layer},
                             {size}, 0);
}

}  // namespace

CrossAttention::CrossAttention(const LayerPlace& place, const LayerOptions& options,
                               ParameterStore& parameters)
    : heads_(options.heads),
      q_weight_(make_cross(place, options, "q.weight", 1, parameters)),
      q_bias_(make_cross_bias(place, "q.bias", options.width, parameters)),
      kv_weight_(make_cross(place, options, "kv.weight", 2, parameters)),
      kv_bias_(make_cross_bias(place, "kv.bias", 2 * options.width, parameters)),
      mix_(place.prefix + ".cross", place.layer, options, parameters) {
  scale_initial(kv_weight_.slice(0, options.width), options.constants.weights);
}

at::Tensor CrossAttention::forward(const at::Tensor& x, const SequenceLayout& layout,
                                   const Memory& memory, KeyValueCache* cache,
                                   const ForwardContext& context) const {
  const Section section(context, Part::attention);
  const at::Tensor query =
      split_heads(at::linear(x, q_weight_, q_bias_), layout.samples, 1, heads_).select(0, 0);
  KeyValueCache all = cache == nullptr ? KeyValueCache{} : *cache;
  if (!all.keys.defined()) {
    const at::Tensor kv =
        split_heads(at::linear(memory.states, kv_weight_, kv_bias_), layout.samples, 2, heads_);
    all = {mix_.key(kv.select(0, 0)), kv.select(0, 1)};
    if (cache != nullptr) *cache = all;
  }
  const at::Tensor mask = memory.key_mask.defined()
                              ? memory.key_mask.view({layout.samples, 1, 1, memory.tokens})
                              : at::Tensor{};
  return mix_.forward(query, all, mask, false, context);
}

}  // namespace equinorm::lab
