// Multi-head self-attention on the flattened stream, with causal and padding masks.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "lab/models/parameters.hpp"

namespace equinorm::lab {

/// How the rows of the flattened stream are grouped, and which tokens each may look at.
struct SequenceLayout {
  std::int64_t samples = 0;
  std::int64_t tokens = 0;  ///< per sample
  bool causal = false;      ///< no token sees a later one
  at::Tensor key_mask;      ///< bool (samples, tokens), true for real tokens; undefined: all are
};

class Attention {
 public:
  Attention(const std::string& prefix, int layer, std::int64_t width, std::int64_t heads,
            ParameterStore& parameters);

  /// x (samples * tokens, width) -> the same shape. Every sample needs a real token; with a causal
  /// mask its first one must be real.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, const SequenceLayout& layout) const;

 private:
  std::int64_t heads_;
  at::Tensor qkv_weight_;
  at::Tensor qkv_bias_;
  at::Tensor out_weight_;
  at::Tensor out_bias_;
};

}  // namespace equinorm::lab
