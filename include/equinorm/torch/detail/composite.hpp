// The operators composed of LibTorch's elementary ones, for tensors on other devices: autograd,
// tracing and meta tensors work as LibTorch makes them work. Outside the numerics contract: two
// passes in the compute type, without its exact path.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <cstdint>

namespace equinorm::torch::detail {

inline at::Tensor wide_input(const at::Tensor& x) {
  return x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
}

/// The mean over the last `norm_dims` axes, which stay with size 1.
inline at::Tensor mean_of_rows(const at::Tensor& x, std::int64_t norm_dims) {
  c10::SmallVector<std::int64_t, 4> axes;
  for (std::int64_t axis = -norm_dims; axis < 0; ++axis) axes.push_back(axis);
  return x.mean(axes, /*keepdim=*/true);
}

inline at::Tensor scale_rows(const at::Tensor& centred, std::int64_t norm_dims, double eps) {
  return centred.mul(mean_of_rows(centred.mul(centred), norm_dims).add(eps).rsqrt());
}

inline at::Tensor layer_norm_composite(const at::Tensor& x, std::int64_t norm_dims,
                                       const at::Tensor& weight, const at::Tensor& bias,
                                       double eps) {
  const at::Tensor wide = wide_input(x);
  at::Tensor y = scale_rows(wide.sub(mean_of_rows(wide, norm_dims)), norm_dims, eps);
  if (weight.defined()) y = y.mul(weight);
  if (bias.defined()) y = y.add(bias);
  return y.to(x.scalar_type());
}

inline at::Tensor rms_norm_composite(const at::Tensor& x, std::int64_t norm_dims,
                                     const at::Tensor& weight, double eps, bool add_one) {
  const at::Tensor wide = wide_input(x);
  at::Tensor y = scale_rows(wide, norm_dims, eps);
  if (weight.defined()) y = y.mul(add_one ? weight.to(wide.scalar_type()).add(1) : weight);
  return y.to(x.scalar_type());
}

}  // namespace equinorm::torch::detail
