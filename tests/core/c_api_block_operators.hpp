// The operators of a Transformer block, C beside C++, and the list of all (c_api_operators.hpp has
// the others and the trap).
#pragma once

#include "c_api_operators.hpp"

namespace equinorm::test {

/// Rows in groups.
struct BlockShape {
  explicit BlockShape(Memory& m)
      : each(m.pick(1, 4)), groups(m.pick(1, 5)), rows(each * groups), cols(m.pick(1, 40)) {}
  std::int64_t each, groups, rows, cols;
  AnyRows view(Memory& m, Use use, DType dtype) const { return m.rows(use, dtype, rows, cols); }
  AnyRows parameters(Memory& m, Use use) const { return m.rows(use, m.p, groups, cols); }
};

inline constexpr Operator kModulatedNormForward{"modulated_norm_forward",
                                                equinorm_modulated_norm_forward,
                                                modulated_norm_forward, [](auto& a, Memory& m) {
                                                  const BlockShape shape(m);
                                                  a.form = m.form(vector_gain);
                                                  a.x = shape.view(m, Use::in, m.x);
                                                  a.rows_per_group = shape.each;
                                                  if (m.given())
                                                    a.scale = shape.parameters(m, Use::in);
                                                  if (m.given())
                                                    a.shift = shape.parameters(m, Use::in);
                                                  a.y = shape.view(m, Use::out, m.y);
                                                }};

inline constexpr Operator kModulatedNormBackward{"modulated_norm_backward",
                                                 equinorm_modulated_norm_backward,
                                                 modulated_norm_backward, [](auto& a, Memory& m) {
                                                   const BlockShape shape(m);
                                                   a.form = m.form(vector_gain);
                                                   a.dy = shape.view(m, Use::in, m.y);
                                                   a.x = shape.view(m, Use::in, m.x);
                                                   a.rows_per_group = shape.each;
                                                   if (m.given())
                                                     a.scale = shape.parameters(m, Use::in);
                                                   if (m.given())
                                                     a.dx = shape.view(m, Use::out, m.x);
                                                   if (m.given())
                                                     a.dscale = shape.parameters(m, Use::out);
                                                   if (m.given())
                                                     a.dshift = shape.parameters(m, Use::out);
                                                 }};

template <class Dropout>
void fill_dropout(Dropout& d, Memory& m) {
  if (!m.given()) return;
  d.p = 0.375;
  d.seed = 0x0123456789abcdef;
  d.offset = static_cast<std::uint64_t>(m.pick(1, 1000));
}

/// With a scale, shift and gate, or with gamma and beta; whether the former.
template <class Parameters>
bool fill_parameters(Parameters& p, Memory& m, const BlockShape& shape) {
  p.rows_per_group = shape.each;
  if (m.pick(0, 1) == 1) {
    if (m.given()) p.gamma = m.vector(Use::in, m.p, shape.cols);
    if (m.given()) p.beta = m.vector(Use::in, m.p, shape.cols);
    return false;
  }
  if (m.given()) p.scale = shape.parameters(m, Use::in);
  if (m.given()) p.shift = shape.parameters(m, Use::in);
  if (m.given()) p.gate = shape.parameters(m, Use::in);
  return true;
}

template <class Quantized>
void fill_quantized(Quantized& q, Memory& m, const BlockShape& shape) {
  const Choice<Quantization> kind(static_cast<int>(m.pick(1, 3)));
  q.kind = kind;
  q.rows = shape.rows;
  q.cols = shape.cols;
  q.row_stride = shape.cols + 3;
  q.data = m.bytes(Use::out, shape.rows * q.row_stride);
  q.fixed_scale = 0.03125;
  if (kind.value == Quantization::int8_fixed) return;
  q.scale = m.vector(Use::out, m.x == DType::f64 ? DType::f64 : DType::f32, shape.rows);
}

inline constexpr Operator kFusedNormForward{
    "fused_norm_forward", equinorm_fused_norm_forward, fused_norm_forward, [](auto& a, Memory& m) {
      const BlockShape shape(m);
      a.form = m.form(vector_gain);
      a.x = shape.view(m, Use::in, m.x);
      if (m.given()) a.residual = shape.view(m, Use::in, m.x);
      fill_dropout(a.dropout, m);
      fill_parameters(a.parameters, m, shape);
      if (m.given()) a.stream = shape.view(m, Use::out, m.x);
      const bool parameters_fit = m.p != DType::f64 || m.x == DType::f64;
      if (parameters_fit && m.pick(0, 1) == 1) {
        fill_quantized(a.quantized, m, shape);
      } else {
        a.y = shape.view(m, Use::out, m.y);
      }
    }};

inline constexpr Operator kFusedNormBackward{"fused_norm_backward", equinorm_fused_norm_backward,
                                             fused_norm_backward, [](auto& a, Memory& m) {
                                               const BlockShape shape(m);
                                               a.form = m.form(vector_gain);
                                               a.dy = shape.view(m, Use::in, m.y);
                                               if (m.given())
                                                 a.dstream = shape.view(m, Use::in, m.y);
                                               a.stream = shape.view(m, Use::in, m.x);
                                               a.x = shape.view(m, Use::in, m.x);
                                               fill_dropout(a.dropout, m);
                                               const bool in_groups =
                                                   fill_parameters(a.parameters, m, shape);
                                               if (m.given()) a.dx = shape.view(m, Use::out, m.x);
                                               if (m.given())
                                                 a.dresidual = shape.view(m, Use::out, m.y);
                                               if (in_groups) {
                                                 if (m.given())
                                                   a.dscale = shape.parameters(m, Use::out);
                                                 if (m.given())
                                                   a.dshift = shape.parameters(m, Use::out);
                                                 if (m.given())
                                                   a.dgate = shape.parameters(m, Use::out);
                                               } else {
                                                 if (m.given())
                                                   a.dgamma = m.vector(Use::out, m.p, shape.cols);
                                                 if (m.given())
                                                   a.dbeta = m.vector(Use::out, m.p, shape.cols);
                                               }
                                             }};

inline constexpr Operator kDynamicTanhForward{"dynamic_tanh_forward", equinorm_dynamic_tanh_forward,
                                              dynamic_tanh_forward, [](auto& a, Memory& m) {
                                                const auto rows = m.pick(1, 20),
                                                           cols = m.pick(1, 40);
                                                a.x = m.rows(Use::in, m.x, rows, cols);
                                                a.alpha = m.vector(Use::in, m.p, 1);
                                                if (m.given())
                                                  a.gamma = m.vector(Use::in, m.p, cols);
                                                if (m.given())
                                                  a.beta = m.vector(Use::in, m.p, cols);
                                                a.y = m.rows(Use::out, m.y, rows, cols);
                                              }};

/// The end of both backward problems with an alpha.
template <class Args>
void want_gradients_and_dalpha(Args& a, Memory& m, std::int64_t rows, std::int64_t cols) {
  if (m.given()) a.dx = m.rows(Use::out, m.x, rows, cols);
  if (m.given()) a.dalpha = m.vector(Use::out, m.p, 1);
  if (m.given()) a.dgamma = m.vector(Use::out, m.p, cols);
  if (m.given()) a.dbeta = m.vector(Use::out, m.p, cols);
}

inline constexpr Operator kDynamicTanhBackward{
    "dynamic_tanh_backward", equinorm_dynamic_tanh_backward, dynamic_tanh_backward,
    [](auto& a, Memory& m) {
      const auto rows = m.pick(1, 20), cols = m.pick(1, 40);
      a.dy = m.rows(Use::in, m.y, rows, cols);
      a.x = m.rows(Use::in, m.x, rows, cols);
      a.alpha = m.vector(Use::in, m.p, 1);
      if (m.given()) a.gamma = m.vector(Use::in, m.p, cols);
      want_gradients_and_dalpha(a, m, rows, cols);
    }};

inline constexpr Operator kBlendedNormForward{"blended_norm_forward", equinorm_blended_norm_forward,
                                              blended_norm_forward, [](auto& a, Memory& m) {
                                                const auto rows = m.pick(1, 20),
                                                           cols = m.pick(1, 40);
                                                a.form = m.form(vector_gain);
                                                a.x = m.rows(Use::in, m.x, rows, cols);
                                                a.alpha = m.vector(Use::in, m.p, 1);
                                                if (m.given())
                                                  a.gamma = m.vector(Use::in, m.p, cols);
                                                if (m.given())
                                                  a.beta = m.vector(Use::in, m.p, cols);
                                                a.y = m.rows(Use::out, m.y, rows, cols);
                                              }};

inline constexpr Operator kBlendedNormBackward{
    "blended_norm_backward", equinorm_blended_norm_backward, blended_norm_backward,
    [](auto& a, Memory& m) {
      const auto rows = m.pick(1, 20), cols = m.pick(1, 40);
      a.form = m.form(vector_gain);
      a.dy = m.rows(Use::in, m.y, rows, cols);
      a.x = m.rows(Use::in, m.x, rows, cols);
      a.alpha = m.vector(Use::in, m.p, 1);
      if (m.given()) a.gamma = m.vector(Use::in, m.p, cols);
      if (m.given()) a.beta = m.vector(Use::in, m.p, cols);
      want_gradients_and_dalpha(a, m, rows, cols);
    }};

/// visit(operator) for each of them.
template <class Visit>
void for_each_operator(Visit visit) {
  const auto all = [&](const auto&... op) { (visit(op), ...); };
  all(kLayerNormForward, kLayerNormBackward, kRmsNormForward, kRmsNormBackward, kRowNormForward,
      kRowNormBackward, kGroupedNormForward, kGroupedNormBackward, kGroupNormForward,
      kGroupNormBackward, kImageLayerNormForward, kImageLayerNormBackward, kBatchNormForward,
      kBatchNormBackward, kHeadNormForward, kHeadNormBackward, kModulatedNormForward,
      kModulatedNormBackward, kFusedNormForward, kFusedNormBackward, kDynamicTanhForward,
      kDynamicTanhBackward, kBlendedNormForward, kBlendedNormBackward);
}

}  // namespace equinorm::test
