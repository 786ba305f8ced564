// The Transformer of the lab with one stack: encoder with one output per sample, or causal language
// model with one per token, with a chosen norm at a chosen placement (placement.hpp). The model
// with two stacks is in encoder_decoder.hpp; training, losses and data are elsewhere.
//
// The one trap: Admin's residual weights are 1 until profile() has seen a batch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lab/models/embedding.hpp"
#include "lab/models/forward_context.hpp"
#include "lab/models/layer_stack.hpp"
#include "lab/models/output_layer.hpp"
#include "lab/models/parameters.hpp"

namespace equinorm::lab {

struct TransformerOptions {
  std::string norm = "layer";
  NormChoice norm_choice;
  std::string placement = "pre";
  std::string qk_norm =
      "none";  ///< of queries and keys: "none", "rms", "layer", "l2" (qk_norm.hpp)
  std::int64_t depth = 4;
  std::int64_t width = 64;
  std::int64_t heads = 4;
  std::int64_t ffn = 256;
  double dropout = 0;                    ///< on the embedding and, by default, on each branch
  std::string dropout_place = "branch";  ///< or "norm_input", "norm_output"
  /// Constants of the placement that take effect: "all", "residual" or "weights".
  std::string placement_parts = "all";
  std::int64_t tokens = 0;  ///< per sample
  /// Vocabulary size for character ids, otherwise 0; then inputs are vectors of `features`.
  std::int64_t vocabulary = 0;
  std::int64_t features = 0;
  std::int64_t outputs = 0;  ///< classes, or the vocabulary size
  /// Causal language model with an output per token; otherwise the mean over the tokens gives one
  /// output per sample, unless pooled is false: then each token has one.
  bool causal = false;
  bool pooled = true;
  std::uint64_t seed = 0;
  at::ScalarType dtype = at::kFloat;
};

class Transformer {
 public:
  /// Throws UsageError for an unknown norm, placement or qk_norm.
  explicit Transformer(const TransformerOptions& options);

  /// input: ids (samples, tokens) or vectors (samples, tokens, features), tokens at most
  /// options.tokens; key_mask: bool (samples, tokens), true for real tokens, or undefined.
  /// Returns logits (samples * tokens, outputs) if causal or not pooled, else (samples, outputs).
  [[nodiscard]] at::Tensor forward(const at::Tensor& input, const ForwardContext& context,
                                   const at::Tensor& key_mask = {}) const;

  /// Generation by a causal model: `input` holds the tokens behind those in `state`, which they
  /// join; key_mask covers all of them. Evaluation mode. Returns logits of the new tokens,
  /// (samples * tokens, outputs): what forward gives for them, with less work.
  [[nodiscard]] at::Tensor step(const at::Tensor& input, DecodingState& state,
                                const at::Tensor& key_mask = {}) const;

  /// Sets Admin's residual weights from one batch: 1 for the first sublayer, then the root of
  /// Var(omega x) + Var(f(x)) of the one before (Liu et al. 2020), without dropout. Other
  /// placements stay as they are. Batch normalization counts the batch into its running averages.
  void profile(const at::Tensor& input, const at::Tensor& key_mask = {}) const;

  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_.all(); }
  [[nodiscard]] const TransformerOptions& options() const { return options_; }

 private:
  [[nodiscard]] at::Tensor pool(const at::Tensor& x, const SequenceLayout& layout) const;

  TransformerOptions options_;
  ParameterStore parameters_;
  Embedding embedding_;
  LayerStack layers_;
  OutputLayer head_;
};

}  // namespace equinorm::lab
