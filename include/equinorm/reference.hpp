// The two oracles that Equinorm is tested against, public so that you can test your own kernels.
//
// equinorm::reference is the contract: docs/numerics.md as plain loops; the kernels give the same
// bits. equinorm::truth is exact arithmetic, rounded only when read. Both are slow, single-threaded
// and allocate; neither is for production.
//
// The one trap: neither checks its arguments. They take what the operators of layer_norm.hpp and
// rms_norm.hpp accept, in the default floating-point environment, and throw only std::bad_alloc.
//
//   #include <equinorm/reference.hpp>
//
//   std::vector<float> x = {1000, 1001, 999}, y(3), mine(3);
//   equinorm::LayerNormForward args;
//   args.x = {x.data(), equinorm::DType::f32, 1, 3, 3};
//   args.y = {y.data(), equinorm::DType::f32, 1, 3, 3};
//   equinorm::reference::layer_norm_forward(args);    // y has the bits that a kernel must give
//   my_layer_norm(x.data(), mine.data());
//   const auto exact = equinorm::truth::layer_norm_forward(args);    // writes nothing to args.y
//   const auto unit = equinorm::truth::scale_ulp(exact.scale[0], equinorm::DType::f32);
//   double scale_ulps = equinorm::truth::error(mine[1], equinorm::DType::f32, exact.y[1], unit);
//
// Link equinorm::reference. EQUINORM_HAS_TRUTH is 1 where it was built with MPFR; without it
// equinorm::truth is declared, but not defined.
#pragma once

#include <cstdint>
#include <vector>

#include "equinorm/blended_norm.hpp"
#include "equinorm/dynamic_tanh.hpp"
#include "equinorm/fused_norm.hpp"
#include "equinorm/grouped_norm.hpp"
#include "equinorm/layer_norm.hpp"
#include "equinorm/rms_norm.hpp"
#include "equinorm/row_norm.hpp"

namespace equinorm::reference {

/// Formulas, shapes, types, aliasing and optional outputs as for the operators of the same name.
/// Writes every output that is given, saved statistics included.
void layer_norm_forward(const LayerNormForward& args, Accuracy accuracy = Accuracy::standard);
void layer_norm_backward(const LayerNormBackward& args, Accuracy accuracy = Accuracy::standard);
void rms_norm_forward(const RmsNormForward& args, Accuracy accuracy = Accuracy::standard);
void rms_norm_backward(const RmsNormBackward& args, Accuracy accuracy = Accuracy::standard);
void row_norm_forward(const RowNormForward& args, Accuracy accuracy = Accuracy::standard);
void row_norm_backward(const RowNormBackward& args, Accuracy accuracy = Accuracy::standard);
void grouped_norm_forward(const GroupedNormForward& args, Accuracy accuracy = Accuracy::standard);
void grouped_norm_backward(const GroupedNormBackward& args, Accuracy accuracy = Accuracy::standard);

void fused_norm_forward(const FusedNormForward& args, Accuracy accuracy = Accuracy::standard);
void fused_norm_backward(const FusedNormBackward& args, Accuracy accuracy = Accuracy::standard);

void blended_norm_forward(const BlendedNormForward& args, Accuracy accuracy = Accuracy::standard);
void blended_norm_backward(const BlendedNormBackward& args, Accuracy accuracy = Accuracy::standard);
void dynamic_tanh_forward(const DynamicTanhForward& args);
void dynamic_tanh_backward(const DynamicTanhBackward& args);

}  // namespace equinorm::reference

namespace equinorm::truth {

/// The real number (hi + lo) * 2^exponent with |hi| in [1/2, 1) or 0, to more than 100 bits, for
/// numbers far outside the range of double too. hi holds a NaN or an infinity as it is.
struct Value {
  double hi = 0;
  double lo = 0;
  std::int64_t exponent = 0;

  /// Nearest double, or infinity; within one more unit of 2^-1074 below 2^-1022.
  [[nodiscard]] double to_double() const;
};

/// floor(log2 |v|); INT64_MIN for 0, INT64_MAX for a NaN or an infinity.
[[nodiscard]] std::int64_t ilogb(const Value& v);

/// Spacing of the numbers of `type` at v, a power of two; below the normal range that of the
/// subnormals, beyond the range as if it went on.
[[nodiscard]] Value ulp(const Value& v, DType type);

/// 2^-23 of `scale` for f32 and 2^-52 of it for f64 (the compute types), at least the spacing of
/// the subnormals: the unit of the bounds in docs/numerics.md.
[[nodiscard]] Value scale_ulp(const Value& scale, DType compute);

/// |computed - exact| / unit. `computed` is a number of `type`; infinity counts as the first power
/// of two beyond the type's range, for `exact` too. 0 where both are NaN, infinity where one is.
[[nodiscard]] double error(double computed, DType type, const Value& exact, const Value& unit);

/// Results of a forward pass, rows * cols or rows elements, row by row without gaps. A row of x
/// that holds a NaN or an infinity has NaN everywhere, as in docs/numerics.md.
struct Forward {
  std::vector<Value> y;
  std::vector<Value> mean;   ///< 0 for RMSNorm
  std::vector<Value> rstd;   ///< 0 where var + eps = 0
  std::vector<Value> scale;  ///< of the rows, for scale_ulp()
  std::vector<Value> size;   ///< largest |xhat gain| + |beta| of the row
};

/// Results of a backward pass: dx rows * cols, dgamma and dbeta cols elements (dgamma one
/// for a scalar gain; in groups as many as the arguments say, group by group). A row of dx is NaN
/// where x, dy or gamma has a NaN or an infinity in that row.
struct Backward {
  std::vector<Value> dx;
  std::vector<Value> dgamma;
  std::vector<Value> dbeta;
  std::vector<Value> scale;  ///< of the rows of dx
  std::vector<Value> size;   ///< max|g| rstd of the row
  std::vector<Value> dgamma_scale;
  std::vector<Value> dbeta_scale;
};

/// Exact results for the arguments of the operators, of which they read x, dy, gamma, beta, add_one
/// and eps only: outputs and statistics may be left out. 320-bit arithmetic with an unlimited
/// exponent, so that sums of doubles and their products lose nothing that shows in 100 bits at the
/// row's scale. About a microsecond per element. The scales are those of docs/numerics.md
/// section 6.
[[nodiscard]] Forward layer_norm_forward(const LayerNormForward& args);
[[nodiscard]] Backward layer_norm_backward(const LayerNormBackward& args);
[[nodiscard]] Forward rms_norm_forward(const RmsNormForward& args);
[[nodiscard]] Backward rms_norm_backward(const RmsNormBackward& args);
[[nodiscard]] Forward row_norm_forward(const RowNormForward& args);
[[nodiscard]] Backward row_norm_backward(const RowNormBackward& args);
[[nodiscard]] Forward grouped_norm_forward(const GroupedNormForward& args);
[[nodiscard]] Backward grouped_norm_backward(const GroupedNormBackward& args);

/// h, exact, and the norm of the h that args.stream holds, which must be there and written: the
/// norm reads h as it is stored. y before it is made 8 bits.
/// Scales here and below are infinite where a factor leaves the range of the compute type, as no
/// bound is stated behind an overflow.
struct FusedForward {
  std::vector<Value> h;
  std::vector<Value> h_scale;  ///< of elements: |gate b| + |residual|
  Forward norm;
};
[[nodiscard]] FusedForward fused_norm_forward(const FusedNormForward& args);

/// With the norm's gradient (its dgamma and dbeta are dscale and dshift of groups) those of the
/// residual stream, of the branch and of the gate, rows * cols and groups * cols elements.
struct FusedBackward {
  Backward norm;
  std::vector<Value> dresidual;
  std::vector<Value> dresidual_scale;  ///< of rows: norm.scale + max|dstream|
  std::vector<Value> dx;
  std::vector<Value> dx_scale;  ///< of elements: dresidual_scale |gate| / (1 - p), 0 where dropped
  std::vector<Value> dgate;
  std::vector<Value> dgate_scale;  ///< sum of dresidual_scale |b|
};
[[nodiscard]] FusedBackward fused_norm_backward(const FusedNormBackward& args);

/// Gradients of an operator with one number alpha.
struct AlphaBackward {
  Backward other;  ///< of dynamic_tanh `scale` is that of elements and `size` is empty
  Value dalpha;
  Value dalpha_scale;
};
/// Scale of y: |alpha| that of the norm + max|(1 - alpha) x|.
[[nodiscard]] Forward blended_norm_forward(const BlendedNormForward& args);
[[nodiscard]] AlphaBackward blended_norm_backward(const BlendedNormBackward& args);
/// y, and scale of elements: |gamma| + |beta|. Statistics are empty.
[[nodiscard]] Forward dynamic_tanh_forward(const DynamicTanhForward& args);
[[nodiscard]] AlphaBackward dynamic_tanh_backward(const DynamicTanhBackward& args);

}  // namespace equinorm::truth
