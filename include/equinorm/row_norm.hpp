// Every norm of a row by one operator: a form says whether the row is centred, how its spread is
// measured and what it is multiplied by. The forms that have names are in row_forms.hpp.
//
// LayerNorm and RMSNorm have operators of their own, layer_norm.hpp and rms_norm.hpp, which can
// save their statistics. Rows are independent, as there.
#pragma once

#include "equinorm/context.hpp"
#include "equinorm/status.hpp"
#include "equinorm/types.hpp"

namespace equinorm {

/// How 1/rstd follows from v, the mean of the squared deviations (of x itself, where not centred).
enum class Spread : std::uint8_t {
  root,     ///< sqrt(v + eps)
  added,    ///< sqrt(v) + eps
  clamped,  ///< max(sqrt(v), eps)
  length,   ///< the square root of the sum of the squares; eps is 0; not centred
};

/// What xhat is multiplied by.
enum class Gain : std::uint8_t {
  none,      ///< nothing
  vector,    ///< gamma, one number per column; nothing where gamma is not given
  one_plus,  ///< 1 + gamma, the 1 added in the compute type; nothing where gamma is not given
  scalar,    ///< gamma, a single number; dgamma is its gradient
  adaptive,  ///< C (1 - k xhat), constant in the backward pass; centred, without gamma and beta
};

/// A norm of rows:
///   mean = mean(x), or 0 where not centred;  v = mean((x - mean)^2)
///   xhat = (x - mean) / spread(v, eps);      y = xhat * gain + beta
/// The default is LayerNorm.
struct RowForm {
  bool centered = true;
  Spread spread = Spread::root;
  bool unbiased = false;  ///< v divides by cols - 1; a row of one column has v = 0
  Gain gain = Gain::vector;
  double eps = 1e-5;           ///< finite, at least 0
  bool detach_mean = false;    ///< the mean counts as constant in the backward pass
  bool detach_spread = false;  ///< and so does 1/rstd
  double scale = 1;            ///< C of the adaptive gain
  double slope = 0.1;          ///< k of the adaptive gain
  double part = 1;  ///< in (0, 1]: v is that of the first ceil(part cols) columns; not centred
};

/// Whether a form has a gamma at all.
[[nodiscard]] constexpr bool has_gamma(const RowForm& form) noexcept {
  return form.gain != Gain::none && form.gain != Gain::adaptive;
}

/// Elements of gamma and dgamma, where there is one.
[[nodiscard]] constexpr std::int64_t gamma_size(const RowForm& form, std::int64_t cols) noexcept {
  return form.gain == Gain::scalar ? 1 : cols;
}

/// Arguments of row_norm_forward. Shapes, types and aliasing as in LayerNormForward; gamma has one
/// element where the gain is scalar.
struct RowNormForward {
  RowForm form;
  ConstRows x;
  ConstVector gamma;  ///< optional
  ConstVector beta;   ///< optional
  Rows y;
};

/// Bounds as layer_norm_forward. A row whose spread is 0 (all x equal, eps = 0) has xhat = 0.
Status row_norm_forward(const RowNormForward& args, Context& context) noexcept;

/// Arguments of row_norm_backward. With g = dy * gain and w the weight of the spread in the
/// gradient (1 for root; (sqrt(v) + eps) / sqrt(v) for added; 1 or, where clamped, 0; cols for
/// length; times cols / (cols - 1) where unbiased; 0 where detached):
///   dx = rstd * (g - mean(g) - w * xhat * mean(g * xhat)), without mean(g) where not centred,
///   dgamma = sum over rows of dy * xhat (scalar: over columns too), dbeta = sum over rows of dy.
/// Shapes, optional outputs, types and aliasing as in LayerNormBackward.
struct RowNormBackward {
  RowForm form;
  ConstRows dy;
  ConstRows x;
  ConstVector gamma;
  Rows dx;
  Vector dgamma;  ///< not for Gain::none and Gain::adaptive
  Vector dbeta;
};

/// Bounds as layer_norm_backward.
Status row_norm_backward(const RowNormBackward& args, Context& context) noexcept;

}  // namespace equinorm
