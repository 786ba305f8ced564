// Layers of a Transformer, one behind the other, and the norm at their end: self-attention,
// attention to an encoder where there is one, feed-forward. Encoder and decoder are the same class;
// LayerOptions tell them apart. Not here: embeddings and output layers.
//
// The one trap: with a DecodingState a call sees only the new tokens, and its key mask all of them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lab/models/attention.hpp"
#include "lab/models/feed_forward.hpp"
#include "lab/models/forward_context.hpp"
#include "lab/models/layer_options.hpp"
#include "lab/models/norm_layer.hpp"
#include "lab/models/parameters.hpp"
#include "lab/models/residual_connection.hpp"

namespace equinorm::lab {

/// Keys and values that one layer keeps while it generates.
struct LayerCache {
  KeyValueCache self;
  KeyValueCache cross;
};

/// Where a generation stands; empty at its start.
struct DecodingState {
  std::int64_t tokens = 0;  ///< seen so far, per sample
  std::vector<LayerCache> layers;
};

class TransformerLayer {
 public:
  TransformerLayer(const LayerPlace& place, const LayerOptions& options,
                   ParameterStore& parameters);

  /// x (samples * tokens, width) -> the same shape; `memory` where the layer attends to one.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, const SequenceLayout& layout,
                                   const Memory* memory, LayerCache* cache,
                                   const ForwardContext& context) const;

 private:
  bool adds_input_;
  SelfAttention attention_;
  ResidualConnection attention_residual_;
  std::optional<CrossAttention> cross_;
  std::optional<ResidualConnection> cross_residual_;
  FeedForward ffn_;
  ResidualConnection ffn_residual_;
};

class LayerStack {
 public:
  LayerStack(const LayerOptions& options, ParameterStore& parameters);

  /// x (samples * tokens, width) -> the same shape. `state`: null unless tokens come step by step.
  /// While context.profile is set, omega of Admin takes the values that x asks for.
  [[nodiscard]] at::Tensor forward(at::Tensor x, const SequenceLayout& layout, const Memory* memory,
                                   DecodingState* state, const ForwardContext& context) const;

 private:
  int first_layer_;
  std::vector<TransformerLayer> layers_;
  std::unique_ptr<NormLayer> final_norm_;
};

}  // namespace equinorm::lab
