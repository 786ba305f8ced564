// Multi-head attention on the flattened stream: self-attention with causal and padding masks, and
// attention to the states of an encoder. Both can keep keys and values for generation.
//
// The one trap: a key mask covers all keys, those in a cache included.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "lab/models/forward_context.hpp"
#include "lab/models/layer_options.hpp"
#include "lab/models/parameters.hpp"
#include "lab/models/qk_norm.hpp"

namespace equinorm::lab {

/// How the rows of the flattened stream are grouped, and which tokens each may look at.
struct SequenceLayout {
  std::int64_t samples = 0;
  std::int64_t tokens = 0;  ///< per sample
  bool causal = false;      ///< no token sees a later one
  at::Tensor key_mask;      ///< bool (samples, keys), true for real tokens; undefined: all are
};

/// What a decoder attends to: the encoder's states.
struct Memory {
  at::Tensor states;        ///< (samples * tokens, width)
  std::int64_t tokens = 0;  ///< per sample
  at::Tensor key_mask;      ///< bool (samples, tokens), or undefined
};

/// Keys and values of the tokens so far, (samples, heads, tokens, width / heads); undefined at the
/// start.
struct KeyValueCache {
  at::Tensor keys;
  at::Tensor values;
};

/// softmax(q k^T / sqrt(d)) v per head, q and k normalized where there is a norm of theirs, the
/// heads' scale and the projection back.
class AttentionHeads {
 public:
  AttentionHeads(const std::string& prefix, int layer, const LayerOptions& options,
                 ParameterStore& parameters);

  /// The key as a cache keeps it and `forward` takes it.
  [[nodiscard]] at::Tensor key(const at::Tensor& x) const { return qk_norm_.key(x); }

  /// given query, keys, values (samples, heads, tokens or keys, width / heads); mask bool (samples,
  /// 1, 1 or tokens, keys) or undefined -> (samples * tokens, width).
  [[nodiscard]] at::Tensor forward(const at::Tensor& given, const KeyValueCache& past,
                                   const at::Tensor& mask, bool causal,
                                   const ForwardContext& context) const;

 private:
  int layer_;
  at::Tensor out_weight_;
  at::Tensor out_bias_;
  at::Tensor scale_;  ///< (heads), or undefined
  QkNorm qk_norm_;
};

class SelfAttention {
 public:
  SelfAttention(const LayerPlace& place, const LayerOptions& options, ParameterStore& parameters);

  /// x (samples * tokens, width) -> the same shape. Every sample needs a real token; with a causal
  /// mask its first one must be real. With a cache, x holds the tokens behind those in it, which it
  /// then joins.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, const SequenceLayout& layout,
                                   KeyValueCache* cache, const ForwardContext& context) const;

 private:
  std::int64_t heads_;
  at::Tensor qkv_weight_;
  at::Tensor qkv_bias_;
  AttentionHeads mix_;
};

class CrossAttention {
 public:
  CrossAttention(const LayerPlace& place, const LayerOptions& options, ParameterStore& parameters);

  /// x (samples * tokens, width) -> the same shape. A cache takes the memory's keys and values at
  /// the first call and gives them at the next ones.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, const SequenceLayout& layout,
                                   const Memory& memory, KeyValueCache* cache,
                                   const ForwardContext& context) const;

 private:
  std::int64_t heads_;
  at::Tensor q_weight_;
  at::Tensor q_bias_;
  at::Tensor kv_weight_;
  at::Tensor kv_bias_;
  AttentionHeads mix_;
};

}  // namespace equinorm::lab
