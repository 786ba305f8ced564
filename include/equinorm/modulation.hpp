// adaLN: a norm without parameters of its own, whose gain 1 + scale and shift come with each sample
// or token.
//
// The Linear(SiLU(c)) that makes them is the caller's. The one trap: rows_per_group rows share one
// scale and shift, samples following each other; 1 makes them those of tokens.
#pragma once

#include "equinorm/context.hpp"
#include "equinorm/grouped_norm.hpp"
#include "equinorm/status.hpp"
#include "equinorm/types.hpp"

namespace equinorm {

/// y = (1 + scale_g) * xhat + shift_g, g = row / rows_per_group, xhat by `form` (its gain is not
/// read). The default is DiT's: (x - mean) / sqrt(var + eps) with eps 1e-6.
/// Source: Peebles, Xie 2023, "Scalable Diffusion Models with Transformers".
///
/// Shapes: x, y (rows, cols), rows a multiple of rows_per_group; scale, shift (rows /
/// rows_per_group, cols), optional. They may be slices of one projection,
/// whose row_stride is not 0. Types, bounds and
/// aliasing as row_norm_forward.
struct ModulatedNormForward {
  RowForm form = {.gain = Gain::none, .eps = 1e-6};
  ConstRows x;
  std::int64_t rows_per_group = 1;
  ConstRows scale;  ///< data null: 0
  ConstRows shift;  ///< data null: 0
  Rows y;
};
Status modulated_norm_forward(const ModulatedNormForward& args, Context& context) noexcept;

/// dx as row_norm_backward with g = dy * (1 + scale); dscale and dshift: the sums of dy * xhat and
/// of dy over the rows of a group.
struct ModulatedNormBackward {
  RowForm form = {.gain = Gain::none, .eps = 1e-6};
  ConstRows dy;
  ConstRows x;
  std::int64_t rows_per_group = 1;
  ConstRows scale;
  Rows dx;
  Rows dscale;
  Rows dshift;
};
Status modulated_norm_backward(const ModulatedNormBackward& args, Context& context) noexcept;

}  // namespace equinorm
