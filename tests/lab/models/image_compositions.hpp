// The image norms from their formulas, in elementary operators, for tests to compare with.
#pragma once

#include "block_checks.hpp"

namespace equinorm::lab {

/// (x - mean) / sqrt(variance + eps) with moments over `axes`, kept for broadcasting.
inline at::Tensor standardized(const at::Tensor& x, at::IntArrayRef axes, double eps) {
  const at::Tensor centred = x - x.mean(axes, /*keepdim=*/true);
  return centred / (centred.square().mean(axes, /*keepdim=*/true) + eps).sqrt();
}

/// Norm `name` of x in training, with the parameters under `prefix`.
inline at::Tensor composed_norm(const std::string& name, const at::Tensor& x, std::int64_t groups,
                                const ParameterStore& parameters, const std::string& prefix) {
  if (name == "none") return x;
  at::Tensor xhat;
  if (name == "batch") xhat = standardized(x, {0, 2, 3}, 1e-5);
  if (name == "instance") xhat = standardized(x, {2, 3}, 1e-5);
  if (name == "layer_chw") xhat = standardized(x, {1, 2, 3}, 1e-5);
  if (name == "layer_2d") xhat = standardized(x, {1}, 1e-6);
  if (name == "group") {
    xhat = standardized(x.reshape({x.size(0), groups, -1}), {2}, 1e-5).view(x.sizes());
  }
  const at::Tensor gamma = find(parameters, prefix + ".gamma");
  const at::Tensor beta = find(parameters, prefix + ".beta");
  if (name == "layer_chw") return xhat * gamma + beta;
  return xhat * gamma.view({-1, 1, 1}) + beta.view({-1, 1, 1});
}

/// The convolution with the parameters under `prefix`, by unfolding.
inline at::Tensor composed_convolution(const at::Tensor& x, std::int64_t stride,
                                       const ParameterStore& parameters,
                                       const std::string& prefix) {
  const at::Tensor weight = find(parameters, prefix + ".weight");
  const at::Tensor bias = find(parameters, prefix + ".bias");
  const std::int64_t kernel = weight.size(2);
  const std::int64_t height = (x.size(2) + stride - 1) / stride;
  const std::int64_t width = (x.size(3) + stride - 1) / stride;
  const at::Tensor padded =
      at::constant_pad_nd(x, {kernel / 2, kernel / 2, kernel / 2, kernel / 2});
  const bool depthwise = weight.size(1) == 1 && x.size(1) > 1;
  at::Tensor y;
  for (std::int64_t i = 0; i < kernel; ++i) {
    for (std::int64_t j = 0; j < kernel; ++j) {
      const at::Tensor seen = padded.slice(2, i, i + (height - 1) * stride + 1, stride)
                                  .slice(3, j, j + (width - 1) * stride + 1, stride);
      const at::Tensor w = weight.select(3, j).select(2, i);  // (outputs, inputs)
      const at::Tensor part =
          depthwise ? seen * w.view({-1, 1, 1}) : at::einsum("oc,nchw->nohw", {w, seen});
      y = y.defined() ? y + part : part;
    }
  }
  return bias.defined() ? y + bias.view({-1, 1, 1}) : y;
}

}  // namespace equinorm::lab
