// DyT and blended norms of at::Tensor: what has a learned number alpha.
//
// The one trap: names, as in functional.hpp. What is said there of types, threads, second and
// forward-mode derivatives and other devices holds here too.
#pragma once

#include <ATen/core/Tensor.h>

#include "equinorm/torch/detail/alpha_norm_function.hpp"

namespace equinorm::torch {

/// y = gamma tanh(alpha x) + beta.
/// Source: Zhu 2025, "Transformers without Normalization"; alpha starts at 0.5 there.
///
/// Shapes: x of at least one axis; alpha one element; gamma and beta (x's last size), or undefined
/// for 1 and 0. The result has x's shape and type and is contiguous. Types and errors as
/// layer_norm. Bound: equinorm/dynamic_tanh.hpp. Autograd: gradients of all four; keeps x.
inline at::Tensor dynamic_tanh(const at::Tensor& x, const at::Tensor& alpha,
                               const at::Tensor& gamma = {}, const at::Tensor& beta = {}) {
  return detail::alpha_norm<detail::DynamicTanhOperator>({x, alpha, gamma, beta}, {});
}

/// y = alpha norm(x) + (1 - alpha) x over the last axis, norm by `form` (equinorm/row_norm.hpp)
/// with a gain that is none, a vector or 1 + a vector. Source: code that circulates as adaptive
/// LayerNorm; alpha starts at 1 there. For a bounded alpha give a sigmoid of the parameter.
///
/// Shapes, types, errors and autograd as dynamic_tanh. Bound: equinorm/blended_norm.hpp.
inline at::Tensor blended_norm(const at::Tensor& x, const at::Tensor& alpha,
                               const at::Tensor& gamma = {}, const at::Tensor& beta = {},
                               const RowForm& form = {}) {
  return detail::alpha_norm<detail::BlendedNormOperator>({x, alpha, gamma, beta}, form);
}

}  // namespace equinorm::torch
