// The operators composed of LibTorch's elementary ones, for tensors on other devices: autograd,
// tracing and meta tensors work as LibTorch makes them work. Outside the numerics contract: two
// passes in the compute type, without its exact path.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <cmath>
#include <cstdint>

#include "equinorm/row_norm.hpp"

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

/// xhat of every form of row norm over the last axis.
inline at::Tensor normalize_composite(const at::Tensor& x, const RowForm& form) {
  at::Tensor deviation = x;
  at::Tensor spread_of = x;
  if (form.centered) {
    const at::Tensor mean = x.mean(-1, true);
    spread_of = x.sub(mean);
    // Detaching the mean leaves it constant in the deviation alone.
    deviation = form.detach_mean ? x.sub(mean.detach()) : spread_of;
  }
  const std::int64_t cols = x.size(-1);
  const auto part = static_cast<std::int64_t>(std::ceil(form.part * static_cast<double>(cols)));
  const at::Tensor squares = spread_of.narrow(-1, 0, part).square();
  const at::Tensor v = form.spread == Spread::length
                           ? squares.sum(-1, true)
                           : squares.sum(-1, true).div(form.unbiased && part > 1 ? part - 1 : part);
  at::Tensor span;
  switch (form.spread) {
    case Spread::root:
    case Spread::length:
      span = v.add(form.eps).sqrt();
      break;
    case Spread::added:
      span = v.sqrt().add(form.eps);
      break;
    case Spread::clamped:
      span = v.sqrt().clamp_min(form.eps);
      break;
  }
  return deviation.div(form.detach_spread ? span.detach() : span);
}

inline at::Tensor row_norm_composite(const at::Tensor& x, const RowForm& form,
                                     const at::Tensor& gamma, const at::Tensor& beta) {
  at::Tensor y = normalize_composite(wide_input(x), form);
  if (form.gain == Gain::adaptive) {
    y = y.mul(y.detach().mul(-form.scale * form.slope).add(form.scale));
  } else if (gamma.defined()) {
    y = y.mul(form.gain == Gain::one_plus ? gamma.to(y.scalar_type()).add(1) : gamma);
  }
  if (beta.defined()) y = y.add(beta);
  return y.to(x.scalar_type());
}

}  // namespace equinorm::torch::detail
