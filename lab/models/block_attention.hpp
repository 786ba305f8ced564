// Self-attention for blocks that keep samples and tokens as axes of their own: the lab's Attention
// behind one place.
//
// Not an attention of its own. The one trap: a mask must leave every sample a token to look at.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "lab/models/attention.hpp"
#include "lab/models/parameters.hpp"

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
      : attention_(prefix, layer, width, heads, parameters) {}

  /// x (samples, tokens, width) -> the same shape.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, const AttentionMask& mask) const {
    const SequenceLayout layout{x.size(0), x.size(1), mask.causal, mask.real_keys};
    return attention_.forward(x.reshape({-1, x.size(2)}), layout).view(x.sizes());
  }

 private:
  Attention attention_;
};

}  // namespace equinorm::lab
