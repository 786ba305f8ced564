// Norms inside Transformer blocks: of attention heads where they lie (QK-norm), and adaLN's, whose
// gain and shift come with each sample or token.
//
// The one trap: names, as in functional.hpp. What is said there of types, autocast, threads, second
// and forward-mode derivatives and other devices holds here too.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>

#include "equinorm/torch/detail/head_norm_operator.hpp"

namespace equinorm::torch {
namespace detail {

inline void check_head_parameter(const char* name, const at::Tensor& parameter, const at::Tensor& x,
                                 std::int64_t size) {
  if (!parameter.defined()) return;
  const std::int64_t each[] = {x.size(-2), size};
  const at::IntArrayRef shape(each);
  const bool by_head = parameter.dim() == 2;
  check_parameter("head_norm", name, parameter, x, by_head ? shape : shape.slice(1),
                  by_head ? "(heads, parameters of a head)" : "(parameters of a head)");
}

}  // namespace detail

/// Each head of each token normalized over its width by `form` (equinorm/row_norm.hpp).
/// Source: Dehghani 2023, "Scaling Vision Transformers to 22 Billion Parameters"; Henry 2020,
/// "Query-Key Normalization" (Spread::length; there the learned factor belongs to the scores).
///
/// Shapes: x (..., heads, width), such as the q or k part of a packed projection of q, k and v,
/// which is read in place; gamma (width), shared by the heads, or (heads, width), where the gain is
/// a scalar with 1 for width; beta (width) or (heads, width), as gamma is; both may be undefined.
/// The result and the gradient of x have x's shape and are contiguous.
/// Types: Double, Float, Half, BFloat16 for each tensor; Double parameters need Double x.
/// Errors (c10::Error): another type, a shape that does not fit, devices that differ, a form that
/// is not one, a parameter that it has not. Bound: docs/numerics.md, section 6. Autograd: gradients
/// of x, gamma and beta; keeps x.
inline at::Tensor head_norm(const at::Tensor& x, const RowForm& form, const at::Tensor& gamma = {},
                            const at::Tensor& beta = {}) {
  constexpr const char* kName = "head_norm";
  detail::check_x(kName, x, 2, "(..., heads, width)");
  detail::check_eps(kName, form.eps);
  detail::check_head_parameter("gamma", gamma, x, gamma_size(form, x.size(-1)));
  detail::check_head_parameter("beta", beta, x, x.size(-1));
  return detail::apply(c10::make_intrusive<detail::HeadNormOperator>(form), {x, gamma, beta});
}

/// head_norm of q and of k, each with a gain of its own; k may have fewer heads.
inline std::pair<at::Tensor, at::Tensor> qk_norm(const at::Tensor& q, const at::Tensor& k,
                                                 const RowForm& form,
                                                 const at::Tensor& q_gamma = {},
                                                 const at::Tensor& k_gamma = {}) {
  return {head_norm(q, form, q_gamma), head_norm(k, form, k_gamma)};
}

/// y = (1 + scale) * xhat + shift, xhat over the last axis by `form`, whose gain is not read.
/// Source: Peebles, Xie 2023, "Scalable Diffusion Models with Transformers" (adaLN; eps 1e-6).
///
/// Shapes: x (samples, ..., width); shift and scale (samples, width), or x's for values of each
/// token, both alike; either may be undefined for 0. They may be slices of one projection, which
/// are read in place. The result has x's shape and is contiguous. Types: as head_norm. Errors:
/// another type, a shape that does not fit, devices that differ, a form that is not one. Bound:
/// docs/numerics.md, section 6. Autograd: gradients of x, shift and scale; keeps x and scale.
inline at::Tensor modulated_norm(const at::Tensor& x, const at::Tensor& shift,
                                 const at::Tensor& scale,
                                 const RowForm& form = {.gain = Gain::none, .eps = 1e-6}) {
  constexpr const char* kName = "modulated_norm";
  detail::check_x(kName, x, 2, "(samples, ..., width)");
  detail::check_eps(kName, form.eps);
  const at::Tensor& given = scale.defined() ? scale : shift;
  const std::int64_t of_samples[] = {x.size(0), x.size(-1)};
  const bool by_token = !given.defined() || given.dim() == x.dim();
  const at::IntArrayRef shape = by_token ? x.sizes() : at::IntArrayRef(of_samples);
  const char* source = by_token ? "x.shape" : "(samples, width)";
  detail::check_parameter(kName, "scale", scale, x, shape, source);
  detail::check_parameter(kName, "shift", shift, x, shape, source);
  const std::int64_t rows = detail::row_shape(x.sizes(), 1).rows;
  const std::int64_t rows_per_group = by_token || rows == 0 ? 1 : rows / x.size(0);
  return detail::apply(c10::make_intrusive<detail::ModulatedNormOperator>(form, rows_per_group),
                       {x, scale, shift});
}

}  // namespace equinorm::torch
