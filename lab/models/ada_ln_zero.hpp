// The adaLN-Zero block and final layer of diffusion Transformers (DiT, Peebles and Xie 2023): a
// condition c gives shift, scale and gate of each sublayer.
//
//   (shift, scale, gate) twice = Linear(SiLU(c)), which starts at zero
//   x = x + gate1 * attention(modulate(norm(x), shift1, scale1))
//   x = x + gate2 * mlp(modulate(norm(x), shift2, scale2))
//   modulate(x, shift, scale) = x * (1 + scale) + shift
//
// norm is LayerNorm without gain and bias, eps 1e-6; mlp is linear, GELU (tanh), linear. The gates
// start at zero, so each block starts as the identity. The final layer is
// Linear(modulate(norm(x))), its own Linear zero too. Not here: patches, time embeddings and the
// whole model.
//
// The one trap: at the start only the Linear of the condition has a gradient in a block, as the
// gate hides everything behind it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lab/models/block_attention.hpp"
#include "lab/models/linear.hpp"
#include "lab/models/parameters.hpp"

namespace equinorm::lab {

/// `chunks` vectors of a width out of a condition: Linear(SiLU(c)), zero at the start.
class Modulation {
 public:
  struct Shape {
    std::int64_t condition = 0;
    std::int64_t width = 0;
    std::int64_t chunks = 0;
  };
  Modulation(const std::string& prefix, int layer, const Shape& shape, ParameterStore& parameters);

  /// c (samples, condition), for all tokens of a sample, or (samples, tokens, condition) ->
  /// `chunks` tensors (samples, width) or (samples, tokens, width).
  [[nodiscard]] std::vector<at::Tensor> forward(const at::Tensor& c) const;

 private:
  std::int64_t chunks_;
  Linear linear_;
};

/// modulate(norm(x), shift, scale) with x (samples, tokens, width), both as Modulation gives them.
at::Tensor modulated_norm(const at::Tensor& x, const at::Tensor& shift, const at::Tensor& scale);

struct AdaLnZeroOptions {
  std::int64_t width = 0;
  std::int64_t heads = 1;
  std::int64_t hidden = 0;     ///< of the mlp; the article has 4 width
  std::int64_t condition = 0;  ///< size of c
};

class AdaLnZeroBlock {
 public:
  AdaLnZeroBlock(const std::string& prefix, int layer, const AdaLnZeroOptions& options,
                 ParameterStore& parameters);

  /// x (samples, tokens, width) -> the same shape; c as in Modulation::forward.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, const at::Tensor& c,
                                   const AttentionMask& mask = {}) const;

 private:
  Modulation modulation_;
  BlockAttention attention_;
  Linear fc1_;
  Linear fc2_;
};

class AdaLnZeroFinalLayer {
 public:
  struct Shape {
    std::int64_t width = 0;
    std::int64_t condition = 0;
    std::int64_t outputs = 0;
  };
  AdaLnZeroFinalLayer(const std::string& prefix, const Shape& shape, ParameterStore& parameters);

  /// x (samples, tokens, width) -> (samples, tokens, outputs), zeros at the start.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, const at::Tensor& c) const;

 private:
  Modulation modulation_;
  Linear linear_;
};

}  // namespace equinorm::lab
