// The residual stream and its norm in one pass: h = residual + gate * dropout(x), y = norm(h); and
// norms that end in 8 bits.
//
// The one trap: CPU tensors only, and no second derivatives: both are refused with an error. Write
// the operators one after the other where you need them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "equinorm/fused_norm.hpp"
#include "equinorm/torch/detail/residual_norm_function.hpp"

namespace equinorm::torch {

/// h = residual + gate * dropout(x) and y = norm(h); returns (y, h).
/// Source: Transformer blocks since Vaswani 2017; gate, shift and scale as in DiT (Peebles, Xie
/// 2023).
///
/// Shapes: x of at least one axis; residual as x, or undefined for 0; gamma and beta (x's last
/// size); gate, shift and scale (samples, x's last size) with x's first axis the samples, or as x
/// for values of tokens; with one of these three gamma and beta must be undefined. y has x's type,
/// h options.stream_type or x's; both have x's shape and are contiguous. Dropout: Philox, replayed
/// from options.seed and options.offset in the backward pass; give every call of a run another
/// offset. Types, errors: as layer_norm. Bound: equinorm/fused_norm.hpp. Autograd: gradients of all
/// seven; keeps h, and x where a gate wants a gradient.
inline std::pair<at::Tensor, at::Tensor> residual_norm(const ResidualNormInputs& inputs,
                                                       const ResidualNormOptions& options = {}) {
  return detail::residual_norm(inputs, options);
}

/// y = norm(x) over the last axis, in 8 bits: the numbers (Char, or Float8_e4m3fn) and the scale of
/// each row (x's leading axes; Float, Double for Double x), y being about scale times the number.
/// kind is int8_per_row or fp8_e4m3_per_row, or int8_fixed with fixed_scale, which returns that
/// scale. Not differentiable: what wants a gradient is refused. The rest as row_norm;
/// bound: equinorm/fused_norm.hpp.
inline std::pair<at::Tensor, at::Tensor> quantized_norm(const at::Tensor& x, Quantization kind,
                                                        const RowForm& form = {},
                                                        const at::Tensor& gamma = {},
                                                        const at::Tensor& beta = {},
                                                        double fixed_scale = 0) {
  return detail::quantized_norm(x, kind, form, gamma, beta, fixed_scale);
}

}  // namespace equinorm::torch
