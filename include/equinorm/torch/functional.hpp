// LayerNorm and RMSNorm of at::Tensor, with PyTorch's arguments and autograd.
//
// CPU tensors run the core's kernels: the bits and bounds of docs/numerics.md, whatever the thread
// count, the batch and the strides. Tensors on other devices go through LibTorch's elementary
// operators and are outside that contract.
//
// The one trap: names. Write `namespace eq = equinorm::torch;` and eq::layer_norm(...): after
// `using namespace equinorm::torch` a call is ambiguous, as at::layer_norm is found through its
// arguments; inside namespace equinorm, torch is this namespace and PyTorch's is ::torch.
//
// Autocast changes nothing here: the output has x's type, whatever the types of the parameters, and
// arithmetic is at least f32 inside. PyTorch's threads run the kernels (context.hpp). Second
// derivatives come from LibTorch's elementary operators, outside the contract. Forward-mode
// derivatives are refused with an error.
#pragma once

#include <ATen/core/Tensor.h>

#include <limits>
#include <optional>

#include "equinorm/torch/detail/arguments.hpp"
#include "equinorm/torch/detail/composite.hpp"
#include "equinorm/torch/detail/layer_norm_function.hpp"
#include "equinorm/torch/detail/rms_norm_function.hpp"
#include "equinorm/torch/detail/row_norm_function.hpp"

namespace equinorm::torch {

/// y = weight * (x - mean) / sqrt(var + eps) + bias over the last normalized_shape.size() axes,
/// with the biased variance.
/// Source: Ba, Kiros, Hinton 2016, "Layer Normalization"; torch.nn.functional.layer_norm.
///
/// Shapes: x any whose last sizes are normalized_shape (at least one axis; sizes of 0 are fine);
/// weight and bias normalized_shape, or undefined for 1 and 0. The result has x's shape and is
/// contiguous.
/// Types: Double, Float, Half, BFloat16 for each tensor; Double parameters need Double x. The
/// result has x's type.
/// Errors (c10::Error): another type, a shape that does not fit, devices that differ, eps negative
/// or not finite.
/// Bound: docs/numerics.md, section 6. A row that holds a NaN or
/// an infinity gives NaN.
/// Autograd: gradients of x, weight and bias; keeps x and 13 bytes per row (25 for Double).
inline at::Tensor layer_norm(const at::Tensor& x, at::IntArrayRef normalized_shape,
                             const at::Tensor& weight = {}, const at::Tensor& bias = {},
                             double eps = 1e-5) {
  const auto shape = detail::check_input("layer_norm", x, normalized_shape, eps);
  detail::check_parameter("layer_norm", "weight", weight, x, normalized_shape);
  detail::check_parameter("layer_norm", "bias", bias, x, normalized_shape);
  if (!x.is_cpu()) return detail::layer_norm_composite(x, shape.norm_dims, weight, bias, eps);
  if (detail::needs_graph(x, weight, bias)) {
    return detail::LayerNormFunction::apply(x, detail::as_optional(weight),
                                            detail::as_optional(bias), shape.norm_dims, eps);
  }
  return detail::layer_norm_run(x, weight, bias, shape, eps, nullptr);
}

/// torch.finfo(type).eps, which torch.nn.RMSNorm documents as its default eps.
inline double finfo_eps(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return std::numeric_limits<double>::epsilon();
    case at::kHalf:
      return 0x1p-10;
    case at::kBFloat16:
      return 0x1p-7;
    default:
      return std::numeric_limits<float>::epsilon();
  }
}

/// y = gain * x / sqrt(mean(x^2) + eps) over the last normalized_shape.size() axes; gain = weight,
/// or 1 + weight with add_one.
/// Source: Zhang, Sennrich 2019, "Root Mean Square Layer Normalization";
/// torch.nn.functional.rms_norm; add_one as in Gemma.
///
/// Shapes, types, errors and bound as layer_norm; add_one needs weight. Without eps it is
/// finfo_eps(x's type), as torch.nn.RMSNorm documents (at::rms_norm itself takes Float's for Half
/// and BFloat16).
/// Autograd: gradients of x and weight; keeps x and 5 bytes per row (9 for Double).
inline at::Tensor rms_norm(const at::Tensor& x, at::IntArrayRef normalized_shape,
                           const at::Tensor& weight = {}, std::optional<double> eps = std::nullopt,
                           bool add_one = false) {
  const double eps_value = eps.value_or(x.defined() ? finfo_eps(x.scalar_type()) : 0);
  const auto shape = detail::check_input("rms_norm", x, normalized_shape, eps_value);
  detail::check_parameter("rms_norm", "weight", weight, x, normalized_shape);
  TORCH_CHECK(!add_one || weight.defined(),
              "equinorm::torch::rms_norm: add_one = true: needs weight, which is undefined");
  if (!x.is_cpu()) {
    return detail::rms_norm_composite(x, shape.norm_dims, weight, eps_value, add_one);
  }
  if (detail::needs_graph(x, weight)) {
    return detail::RmsNormFunction::apply(x, detail::as_optional(weight), shape.norm_dims,
                                          eps_value, add_one);
  }
  return detail::rms_norm_run(x, weight, shape, eps_value, add_one, nullptr);
}

/// Every norm of rows over the last axis, by its form (equinorm/row_norm.hpp; row_forms.hpp has the
/// named ones): y = xhat * gain + beta.
///
/// Shapes: x of at least one axis; gamma (x's last size), or one element where the gain is a
/// scalar; beta (x's last size); both may be undefined. The result has x's shape and is contiguous.
/// Types, errors and bound as layer_norm.
/// Autograd: gradients of x, gamma and beta; keeps x.
inline at::Tensor row_norm(const at::Tensor& x, const RowForm& form, const at::Tensor& gamma = {},
                           const at::Tensor& beta = {}) {
  TORCH_CHECK(x.defined() && x.dim() >= 1,
              "equinorm::torch::row_norm: x must be a tensor of at least one axis");
  const at::IntArrayRef last = x.sizes().slice(x.dim() - 1);
  detail::check_input("row_norm", x, last, form.eps);
  detail::check_parameter("row_norm", "gamma", gamma, x, {gamma_size(form, last[0])});
  detail::check_parameter("row_norm", "beta", beta, x, last);
  if (!x.is_cpu()) return detail::row_norm_composite(x, form, gamma, beta);
  if (detail::needs_graph(x, gamma, beta)) {
    return detail::RowNormFunction::apply(x, detail::as_optional(gamma), detail::as_optional(beta),
                                          form);
  }
  return detail::row_norm_run(x, form, gamma, beta);
}

}  // namespace equinorm::torch
