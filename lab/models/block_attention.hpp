// Self-attention for blocks that keep samples and tokens as axes of their own: the lab's
// SelfAttention behind one place.
//
// Not an attention of its own. The one trap: a mask must leave every sample a token to look at.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "lab/models/attention.hpp"
#include "lab/models/parameters.hpp"
#include "lab/models/placement.hpp"

namespace equinorm::lab {

/// Which tokens may be looked at.
struct AttentionMask {
  bool causal = false;     ///< no token sees a later one
  at::Tensor real_keys{};  ///< bool (samples, tokens), true for real tokens; undefined: all are
};

class BlockAttention {
 public:
  BlockAttention(const std::string& prefix, int layer, std::int64_t width, std::int64_t heads,
                 ParameterStore& parameters)
      : attention_({prefix, layer}, options_of(width, heads), parameters) {}

  /// x (samples, tokens, width) -> the same shape.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, const AttentionMask& mask) const {
    const SequenceLayout layout{x.size(0), x.size(1), mask.causal, mask.real_keys};
    return attention_.forward(x.reshape({-1, x.size(2)}), layout, nullptr, {}).view(x.sizes());
  }

 private:
  // Of the placements only what they do inside attention counts here: nothing.
  static LayerOptions options_of(std::int64_t width, std::int64_t heads) {
    LayerOptions options;
    options.placement = &placement_named("pre");
    options.width = width;
    options.heads = heads;
    return options;
  }

  SelfAttention attention_;
};

}  // namespace equinorm::lab
