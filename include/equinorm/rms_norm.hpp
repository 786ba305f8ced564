// RMSNorm over the last axis: y = gain * x / sqrt(mean(x^2) + eps), gain = gamma or 1 + gamma.
// Source: Zhang and Sennrich 2019, "Root Mean Square Layer Normalization", with eps inside the
// root as in LLaMA and T5; the 1 + gamma form as in Gemma.
//
// x is never centred. Rows are independent, as in layer_norm.hpp.
#pragma once

#include "equinorm/context.hpp"
#include "equinorm/status.hpp"
#include "equinorm/types.hpp"

namespace equinorm {

/// Per-row statistics that forward saves and backward reads: rstd (rows) in the compute type C,
/// exact[r] = 1 for a row that took the exact path. Give both or none.
struct RmsNormStatistics {
  Vector rstd;
  std::uint8_t* exact = nullptr;
};

/// Arguments of rms_norm_forward. Shapes, types and aliasing as in LayerNormForward.
struct RmsNormForward {
  ConstRows x;
  ConstVector gamma;     ///< optional
  bool add_one = false;  ///< gain = 1 + gamma, the 1 added in C (exact path: in f64); needs gamma
  double eps = 1e-5;     ///< finite, at least 0
  Rows y;
  RmsNormStatistics statistics;  ///< optional
};

/// Bounds as layer_norm_forward, with beta = 0.
Status rms_norm_forward(const RmsNormForward& args, Context& context) noexcept;

/// Arguments of rms_norm_backward. With g = dy * gain and xhat = x * rstd:
///   dx = rstd * (g - xhat * mean(g * xhat)), dgamma = sum(dy * xhat).
/// Shapes, optional outputs, types and aliasing as in LayerNormBackward.
struct RmsNormBackward {
  ConstRows dy;
  ConstRows x;
  ConstVector gamma;
  bool add_one = false;
  double eps = 1e-5;
  RmsNormStatistics statistics;
  Rows dx;
  Vector dgamma;
};

/// Bounds as layer_norm_backward.
Status rms_norm_backward(const RmsNormBackward& args, Context& context) noexcept;

}  // namespace equinorm
