// A learned mean of a norm and its input: y = alpha norm(x) + (1 - alpha) x, alpha one number.
// Source: code that circulates as adaptive LayerNorm; alpha starts at 1 there, where y is the norm
// itself. A sigmoid in front of alpha is the caller's.
#pragma once

#include "equinorm/context.hpp"
#include "equinorm/row_norm.hpp"
#include "equinorm/status.hpp"
#include "equinorm/types.hpp"

namespace equinorm {

/// Shapes, types and aliasing as row_norm_forward; alpha has one element. Forms with a scalar or an
/// adaptive gain are not taken.
struct BlendedNormForward {
  RowForm form;
  ConstRows x;
  ConstVector alpha;
  ConstVector gamma;
  ConstVector beta;
  Rows y;
};

/// Bound: 0.5 scale ulp above row_norm_forward, with |alpha| times its scale + max|(1 - alpha) x|
/// of the row (docs/numerics.md section 12).
Status blended_norm_forward(const BlendedNormForward& args, Context& context) noexcept;

/// dx = that of the norm with gain alpha * gamma, plus (1 - alpha) dy;
/// dalpha = sum of dy (norm(x) - x) over all elements; dgamma and dbeta are alpha times the norm's.
/// dx has x's type. Any output may be left out. dx may be x itself;
/// nothing else may overlap an output.
struct BlendedNormBackward {
  RowForm form;
  ConstRows dy;
  ConstRows x;
  ConstVector alpha;
  ConstVector gamma;
  ConstVector beta;  ///< for dalpha
  Rows dx;
  Vector dalpha;  ///< one element
  Vector dgamma;
  Vector dbeta;
};

/// Bounds: dx 1 scale ulp above row_norm_backward, with |alpha| times its scale + max|(1 - alpha)
/// dy|; dgamma and dbeta as there; dalpha in docs/numerics.md section 12.
Status blended_norm_backward(const BlendedNormBackward& args, Context& context) noexcept;

}  // namespace equinorm
