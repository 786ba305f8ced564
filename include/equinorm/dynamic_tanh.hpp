// DyT, a norm's replacement without statistics: y = gamma tanh(alpha x) + beta.
// Source: Zhu 2025, "Transformers without Normalization"; alpha there starts at 0.5.
//
// The one trap: nothing is normalized, so an infinity gives the finite gamma +- beta of its sign,
// not NaN; a NaN stays alone in its element.
#pragma once

#include "equinorm/context.hpp"
#include "equinorm/status.hpp"
#include "equinorm/types.hpp"

namespace equinorm {

/// Shapes: x, y (rows, cols); alpha one element; gamma and beta (cols), optional. Types: any DType
/// for each; everything is computed in f64 and rounded once. Aliasing: y may be x itself.
struct DynamicTanhForward {
  ConstRows x;
  ConstVector alpha;
  ConstVector gamma;
  ConstVector beta;
  Rows y;
};

/// Bound: 0.5 output ulp + 2^-50 (|gamma| + |beta|), for y below the range of f64.
Status dynamic_tanh_forward(const DynamicTanhForward& args, Context& context) noexcept;

/// With t = tanh(alpha x), g = dy * gamma and s = 1 - t^2:
///   dx = alpha g s, dalpha = sum of g s x over all elements, dgamma = sum over rows of dy t,
///   dbeta = sum over rows of dy.
/// dx has any type; any output may be left out. Aliasing: dx may be dy or x itself.
struct DynamicTanhBackward {
  ConstRows dy;
  ConstRows x;
  ConstVector alpha;
  ConstVector gamma;
  Rows dx;
  Vector dalpha;  ///< one element
  Vector dgamma;
  Vector dbeta;
};

/// Bounds: dx 0.5 output ulp + 2^-50 |alpha g|; sums 0.5 output ulp, 2^-50 of the sum of |terms|,
/// for dalpha times 1 + |alpha x|, and 2^-53 of it for each addition (docs/numerics.md section 11).
/// Products of f64 inputs beyond the range of f64 overflow.
Status dynamic_tanh_backward(const DynamicTanhBackward& args, Context& context) noexcept;

}  // namespace equinorm
