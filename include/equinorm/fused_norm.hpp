// A norm with what surrounds it in a Transformer block, in one pass over memory: the residual add
// before it, with dropout and a gate, modulation by sample or token, and 8-bit outputs.
//
//   b = dropout(x),   h = residual + gate * b,   y = norm(h)
//
// The one trap: the norm reads h as it is stored. Where `stream` has a narrower type than the
// compute type, h is rounded to it first, so that the backward pass, which gets the stream, sees
// the same numbers.
#pragma once

#include "equinorm/context.hpp"
#include "equinorm/grouped_norm.hpp"
#include "equinorm/status.hpp"
#include "equinorm/types.hpp"

namespace equinorm {

/// Dropout by Philox4x32-10 (Salmon 2011, "Parallel random numbers: as easy as 1, 2, 3"): element i
/// of the call, i = row * cols + column, is kept where word i mod 4 of counter (offset, i / 4)
/// under key `seed` is at least p 2^32, and multiplied by 1 / (1 - p); others are 0, whatever x
/// holds. The same seed and offset give the same mask, whatever threads and machine.
struct Dropout {
  double p = 0;  ///< in [0, 1]; 0: off
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;  ///< another one for every call of a run
};

/// Parameters of all rows, gamma and beta (cols), or of groups of rows_per_group rows following
/// each other: scale (the gain is 1 + scale), shift and gate, (rows / rows_per_group, cols) each.
/// All are optional; with a gate or a scale or a shift there is no gamma and no beta.
struct FusedParameters {
  ConstVector gamma;
  ConstVector beta;
  std::int64_t rows_per_group = 1;
  ConstRows scale;
  ConstRows shift;
  ConstRows gate;
};

/// How a norm stores y in 8 bits.
enum class Quantization : std::uint8_t {
  /// scale = max|y| / 127 of the row, rounded to the compute type; round(y / scale), ties to even.
  int8_per_row = 1,
  /// scale = max|y| / 448; the nearest number with 4 bits of exponent and 3 of mantissa, no
  /// infinity.
  fp8_e4m3_per_row = 2,
  /// One scale for all, given: round(y / scale) between -128 and 127.
  int8_fixed = 3,
};

/// y in 8 bits, of which y is about scale times the number. A row that is not finite has the scale
/// NaN, and in fp8 NaN elements; with int8_fixed its NaN elements are -128. A row of zeros has the
/// scale 0.
/// Bound: that of y in C, then at most (1/2 + 2^-18) scale in int8 (f64: 2^-47), where a fixed
/// scale does not saturate, and |y| / 16 + 2^-10 scale in fp8.
struct QuantizedRows {
  void* data = nullptr;
  Quantization kind = Quantization::int8_per_row;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 0;  ///< in bytes
  Vector scale;                 ///< of the rows, in the compute type; not for int8_fixed
  double fixed_scale = 0;       ///< of int8_fixed: finite, above 0
};

/// Arguments of fused_norm_forward.
///
/// Shapes: x, residual, stream, y (rows, cols). Types: any DType each; the compute type is f64
/// where one of them is f64, else f32. Either y or quantized is given. Aliasing: stream may be
/// residual itself or x itself, and y may be x or residual itself where stream is not; nothing else
/// may overlap an output.
struct FusedNormForward {
  RowForm form;  ///< its gain counts for gamma only
  ConstRows x;
  ConstRows residual;  ///< optional: 0
  Dropout dropout;
  FusedParameters parameters;
  Rows stream;  ///< h; optional
  Rows y;
  QuantizedRows quantized;
};

/// Bound of y as row_norm_forward for the h that is stored; of h 1.5 scale ulp (f64: 2) with the
/// scale |gate b| + |residual|, and 0.5 output ulp where the stream is narrower than C.
Status fused_norm_forward(const FusedNormForward& args, Context& context) noexcept;

/// Arguments of fused_norm_backward. With d the gradient of h, that of the norm by
/// row_norm_backward plus dstream:
///   dresidual = d, dx = gate * d where kept, times 1 / (1 - p),
///   dgate = sum of d * b over the rows of a group; dscale, dshift, dgamma, dbeta as for the norm
/// (a quantized y counts as y).
///
/// `stream` is forward's h; dy and dstream have the shape of y. x is needed for dgate only. Outputs
/// that are not given are not wanted. dresidual may be dstream itself.
struct FusedNormBackward {
  RowForm form;
  ConstRows dy;
  ConstRows dstream;  ///< gradient of h from elsewhere; optional
  ConstRows stream;
  ConstRows x;
  Dropout dropout;
  FusedParameters parameters;  ///< beta and shift are not read
  Rows dx;
  Rows dresidual;
  Vector dgamma;
  Vector dbeta;
  Rows dscale;
  Rows dshift;
  Rows dgate;
};

/// Bounds of dgamma, dbeta, dscale and dshift as row_norm_backward; dresidual 0.5 scale ulp above
/// its dx, with max|dstream| added to the scale; dx and dgate 1.5 (f64: 2) above that, with the
/// factors of d in the scale. All of them: docs/numerics.md section 9.
Status fused_norm_backward(const FusedNormBackward& args, Context& context) noexcept;

}  // namespace equinorm
