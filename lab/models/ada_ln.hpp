// The adaLN block of diffusion Transformers (Peebles and Xie 2023), without the gates of
// adaLN-Zero:
//
//   (shift, scale) twice = Linear(SiLU(c)), which starts at zero
//   x = x + attention(modulate(norm(x), shift1, scale1))
//   x = x + mlp(modulate(norm(x), shift2, scale2))
//
// Norm, mlp and modulate are those of ada_ln_zero.hpp. The one trap: unlike an adaLN-Zero block it
// doesn't start as the identity but as a Pre-LN layer.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "lab/models/ada_ln_zero.hpp"

namespace equinorm::lab {

class AdaLnBlock {
 public:
  AdaLnBlock(const std::string& prefix, int layer, const AdaLnZeroOptions& options,
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

}  // namespace equinorm::lab
