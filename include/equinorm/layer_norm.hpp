// LayerNorm over the last axis: y = gamma * (x - mean) / sqrt(var + eps) + beta, biased variance.
// Source: Ba, Kiros, Hinton 2016, "Layer Normalization"; PyTorch's torch.nn.LayerNorm.
//
// Rows are independent: a row gives the same bits whatever rows, threads and strides surround it.
#pragma once

#include "equinorm/context.hpp"
#include "equinorm/status.hpp"
#include "equinorm/types.hpp"

namespace equinorm {

/// Per-row statistics that forward saves and backward reads, `rows` elements each; mean, mean_tail
/// and rstd in the compute type C of the call. The mean is the unevaluated sum mean + mean_tail.
/// exact[r] is 1 for a row that took the exact path (its saved numbers are then only informative).
/// Give all four or none.
struct LayerNormStatistics {
  Vector mean;
  Vector mean_tail;
  Vector rstd;
  std::uint8_t* exact = nullptr;
};

/// Arguments of layer_norm_forward.
///
/// Shapes: x and y (rows, cols); gamma and beta (cols) or not given. rows and cols may be 0.
/// Types: x and y any DType; gamma and beta any DType that the compute type
/// C = compute_type(x, y) holds (f64 parameters need f64 x or y).
/// Aliasing: y may be x itself (same data, stride and dtype); no other overlap of an output.
struct LayerNormForward {
  ConstRows x;
  ConstVector gamma;
  ConstVector beta;
  double eps = 1e-5;  ///< finite, at least 0
  Rows y;
  LayerNormStatistics statistics;  ///< optional
};

/// Bound, in the scale ulp of docs/numerics.md section 6: y at most 3 in standard accuracy, and 1/4
/// more for each doubling beyond 16,384 columns (C = f64: 8,192); in exact accuracy 0.5 output ulp
/// + 2^-23 scale ulp for C = f32, 2 scale ulp for C = f64. Outputs narrower than C add one
/// rounding. A row that holds a NaN or an infinity gives NaN in all its outputs.
Status layer_norm_forward(const LayerNormForward& args, Context& context) noexcept;

/// Arguments of layer_norm_backward. With g = dy * gamma and xhat = (x - mean) * rstd:
///   dx = rstd * (g - mean(g) - xhat * mean(g * xhat)), dgamma = sum(dy * xhat), dbeta = sum(dy).
///
/// Shapes: dy, x, dx (rows, cols); gamma, dgamma, dbeta (cols). Any of dx, dgamma, dbeta may be
/// left out. Without statistics they are computed anew from x. dtype of dy is that of forward's y.
/// dgamma and dbeta may have any DType; they are summed in f64 over chunks and rounded once.
/// Aliasing: dx may be dy itself or x itself (same data, stride and dtype); no other overlap.
struct LayerNormBackward {
  ConstRows dy;
  ConstRows x;
  ConstVector gamma;
  double eps = 1e-5;               ///< as in forward
  LayerNormStatistics statistics;  ///< from forward, or empty
  Rows dx;
  Vector dgamma;
  Vector dbeta;
};

/// Bounds, in the scale ulp of docs/numerics.md section 6: dx at most 4, and 1/4 more for each
/// doubling beyond 16,384 columns (C = f64: 8,192); for C = f32 dgamma at most
/// 8 and dbeta at most 4. Types narrower than C add one rounding.
Status layer_norm_backward(const LayerNormBackward& args, Context& context) noexcept;

}  // namespace equinorm
