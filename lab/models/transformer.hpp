// The Transformer of the lab: encoder or causal language model, with a chosen norm in pre or post
// placement.
//
//   pre:   x = x + f(norm(x)) per sublayer, a final norm behind the last layer
//   post:  x = norm(x + f(x)) per sublayer (Vaswani et al. 2017), no final norm
//   "none" has no norm at all, so both placements are the same model.
//
// Not here: training, losses, data.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lab/models/attention.hpp"
#include "lab/models/feed_forward.hpp"
#include "lab/models/forward_context.hpp"
#include "lab/models/norm_layer.hpp"
#include "lab/models/parameters.hpp"

namespace equinorm::lab {

struct TransformerOptions {
  std::string norm = "layer";
  std::string placement = "pre";
  std::int64_t depth = 4;
  std::int64_t width = 64;
  std::int64_t heads = 4;
  std::int64_t ffn = 256;
  double dropout = 0;       ///< on the embedding and on each branch
  std::int64_t tokens = 0;  ///< per sample
  /// Vocabulary size for character ids, otherwise 0; then inputs are vectors of `features`.
  std::int64_t vocabulary = 0;
  std::int64_t features = 0;
  std::int64_t outputs = 0;  ///< classes, or the vocabulary size
  /// Causal language model with an output per token; otherwise the mean over the tokens gives one
  /// output per sample.
  bool causal = false;
  std::uint64_t seed = 0;
  at::ScalarType dtype = at::kFloat;
};

class Transformer {
 public:
  explicit Transformer(const TransformerOptions& options);

  /// input: ids (samples, tokens) or vectors (samples, tokens, features), tokens at most
  /// options.tokens; key_mask: bool (samples, tokens), true for real tokens, or undefined.
  /// Returns logits (samples * tokens, outputs) if causal, else (samples, outputs).
  at::Tensor forward(const at::Tensor& input, ForwardContext context,
                     const at::Tensor& key_mask = {});

  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_.all(); }
  [[nodiscard]] const TransformerOptions& options() const { return options_; }

 private:
  struct Layer {
    Attention attention;
    std::unique_ptr<NormLayer> norm1;
    FeedForward ffn;
    std::unique_ptr<NormLayer> norm2;
  };

  at::Tensor embed(const at::Tensor& input, const ForwardContext& context) const;
  at::Tensor run_layers(at::Tensor x, const SequenceLayout& layout, const ForwardContext& context);
  at::Tensor pool(const at::Tensor& x, const SequenceLayout& layout) const;

  TransformerOptions options_;
  ParameterStore parameters_;
  at::Tensor embedding_;
  at::Tensor embedding_bias_;
  at::Tensor positions_;  ///< (tokens, width)
  std::vector<Layer> layers_;
  std::unique_ptr<NormLayer> final_norm_;
  at::Tensor head_weight_;
  at::Tensor head_bias_;
};

/// Sinusoidal positions (Vaswani et al. 2017): sin on even and cos on odd columns, wavelengths from
/// 2 pi to 10000 * 2 pi.
at::Tensor sinusoidal_positions(std::int64_t tokens, std::int64_t width, at::ScalarType dtype);

}  // namespace equinorm::lab
