// The operators out of LibTorch's own, for tensors on other devices. Outside the numerics contract:
// bits, bounds and the handling of extreme rows are PyTorch's.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/rms_norm.h>

namespace equinorm::torch::detail {

/// The parameter in the type that PyTorch's operator wants beside `x`.
inline at::Tensor widened(const at::Tensor& parameter, const at::Tensor& x) {
  return parameter.defined() ? parameter.to(x.scalar_type()) : parameter;
}

inline at::Tensor wide_input(const at::Tensor& x) {
  return x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
}

inline at::Tensor layer_norm_composite(const at::Tensor& x, at::IntArrayRef normalized_shape,
                                       const at::Tensor& weight, const at::Tensor& bias,
                                       double eps) {
  const at::Tensor wide = wide_input(x);
  return at::layer_norm(wide, normalized_shape, widened(weight, wide), widened(bias, wide), eps)
      .to(x.scalar_type());
}

inline at::Tensor rms_norm_composite(const at::Tensor& x, at::IntArrayRef normalized_shape,
                                     const at::Tensor& weight, double eps, bool add_one) {
  const at::Tensor wide = wide_input(x);
  const at::Tensor gamma = widened(weight, wide);
  return at::rms_norm(wide, normalized_shape, add_one ? gamma.add(1) : gamma, eps)
      .to(x.scalar_type());
}

}  // namespace equinorm::torch::detail
