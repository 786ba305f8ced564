// The encoder-decoder Transformer (Vaswani et al. 2017): an encoder over the source, a causal
// decoder over the target that also attends to the encoder's states, one output per target token.
// Both stacks have the same norm and placement; nothing is shared between the two embeddings.
//
// The one trap: layers are counted from the encoder's first to the decoder's last, in parameters
// and towards observers.
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

struct EncoderDecoderOptions {
  std::string norm = "layer";
  std::string placement = "pre";
  std::string qk_norm = "none";  ///< of queries and keys, as in TransformerOptions
  std::int64_t encoder_depth = 3;
  std::int64_t decoder_depth = 3;
  std::int64_t width = 64;
  std::int64_t heads = 4;
  std::int64_t ffn = 256;
  double dropout = 0;  ///< on the embeddings and on each branch
  /// Norms over a batch count padded tokens too; attention never sees them.
  bool norms_count_padding = false;
  InputShape source;  ///< ids or vectors
  InputShape target;  ///< ids or vectors
  std::int64_t outputs = 0;
  std::uint64_t seed = 0;
  at::ScalarType dtype = at::kFloat;
};

class EncoderDecoder {
 public:
  /// Throws UsageError for an unknown norm, placement or qk_norm.
  explicit EncoderDecoder(const EncoderDecoderOptions& options);

  /// source and target: ids (samples, tokens) or vectors (samples, tokens, features); masks: bool
  /// (samples, tokens), true for real tokens, or undefined. Returns logits (samples * target
  /// tokens, outputs).
  [[nodiscard]] at::Tensor forward(const at::Tensor& source, const at::Tensor& target,
                                   const ForwardContext& context,
                                   const at::Tensor& source_mask = {},
                                   const at::Tensor& target_mask = {}) const;

  /// The two halves of forward.
  [[nodiscard]] Memory encode(const at::Tensor& source, const ForwardContext& context,
                              const at::Tensor& source_mask = {}) const;
  [[nodiscard]] at::Tensor decode(const Memory& memory, const at::Tensor& target,
                                  const ForwardContext& context,
                                  const at::Tensor& target_mask = {}) const;

  /// Generation: `target` holds the tokens behind those in `state`, which they join; target_mask
  /// covers all of them. Evaluation mode. Returns logits of the new tokens.
  [[nodiscard]] at::Tensor step(const Memory& memory, const at::Tensor& target,
                                DecodingState& state, const at::Tensor& target_mask = {}) const;

  /// As Transformer::profile; encoder and decoder each start at 1.
  void profile(const at::Tensor& source, const at::Tensor& target,
               const at::Tensor& source_mask = {}, const at::Tensor& target_mask = {}) const;

  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_.all(); }
  [[nodiscard]] const EncoderDecoderOptions& options() const { return options_; }

 private:
  [[nodiscard]] ForwardContext norm_context(const ForwardContext& context,
                                            const SequenceLayout& layout) const;

  EncoderDecoderOptions options_;
  ParameterStore parameters_;
  Embedding source_embedding_;
  LayerStack encoder_;
  Embedding target_embedding_;
  LayerStack decoder_;
  OutputLayer head_;
};

}  // namespace equinorm::lab
