// Every operator of the C interface beside its C++ twin, with a small random problem each.
//
// The trap: fill() is written once for the structs of both interfaces, so a field that it leaves
// out has the default of C++ in one and 0 in the other.
#pragma once

#include <tuple>

#include "c_api_support.hpp"

namespace equinorm::test {

inline bool any_form(const RowForm& /*form*/) { return true; }
inline bool vector_gain(const RowForm& f) {
  return f.gain == Gain::vector || f.gain == Gain::one_plus;
}
/// One that columns may share parameters with, and that takes given statistics.
inline bool whole_row(const RowForm& f) {
  return vector_gain(f) && f.centered && f.part == 1 && f.spread != Spread::length;
}

inline constexpr Operator kLayerNormForward{"layer_norm_forward", equinorm_layer_norm_forward,
                                            layer_norm_forward, [](auto& a, Memory& m) {
                                              const auto rows = m.pick(1, 20), cols = m.pick(1, 40);
                                              const DType c = compute_type(m.x, m.y);
                                              a.x = m.rows(Use::in, m.x, rows, cols);
                                              if (m.given()) a.gamma = m.vector(Use::in, m.p, cols);
                                              if (m.given()) a.beta = m.vector(Use::in, m.p, cols);
                                              a.eps = 1e-3;
                                              a.y = m.rows(Use::out, m.y, rows, cols);
                                              if (!m.given()) return;
                                              a.statistics.mean = m.vector(Use::out, c, rows);
                                              a.statistics.mean_tail = m.vector(Use::out, c, rows);
                                              a.statistics.rstd = m.vector(Use::out, c, rows);
                                              a.statistics.exact = m.bytes(Use::out, rows);
                                            }};

inline constexpr Operator kLayerNormBackward{"layer_norm_backward", equinorm_layer_norm_backward,
                                             layer_norm_backward, [](auto& a, Memory& m) {
                                               const auto rows = m.pick(1, 20),
                                                          cols = m.pick(1, 40);
                                               a.dy = m.rows(Use::in, m.y, rows, cols);
                                               a.x = m.rows(Use::in, m.x, rows, cols);
                                               if (m.given())
                                                 a.gamma = m.vector(Use::in, m.p, cols);
                                               a.eps = 1e-3;
                                               if (m.given())
                                                 a.dx = m.rows(Use::out, m.x, rows, cols);
                                               if (m.given())
                                                 a.dgamma = m.vector(Use::out, m.p, cols);
                                               if (m.given())
                                                 a.dbeta = m.vector(Use::out, m.p, cols);
                                             }};

inline constexpr Operator kRmsNormForward{
    "rms_norm_forward", equinorm_rms_norm_forward, rms_norm_forward, [](auto& a, Memory& m) {
      const auto rows = m.pick(1, 20), cols = m.pick(1, 40);
      a.x = m.rows(Use::in, m.x, rows, cols);
      if (m.given()) {
        a.gamma = m.vector(Use::in, m.p, cols);
        a.add_one = m.pick(0, 1) == 1;
      }
      a.eps = 1e-3;
      a.y = m.rows(Use::out, m.y, rows, cols);
      if (!m.given()) return;
      a.statistics.rstd = m.vector(Use::out, compute_type(m.x, m.y), rows);
      a.statistics.exact = m.bytes(Use::out, rows);
    }};

inline constexpr Operator kRmsNormBackward{"rms_norm_backward", equinorm_rms_norm_backward,
                                           rms_norm_backward, [](auto& a, Memory& m) {
                                             const auto rows = m.pick(1, 20), cols = m.pick(1, 40);
                                             a.dy = m.rows(Use::in, m.y, rows, cols);
                                             a.x = m.rows(Use::in, m.x, rows, cols);
                                             if (m.given()) {
                                               a.gamma = m.vector(Use::in, m.p, cols);
                                               a.add_one = m.pick(0, 1) == 1;
                                             }
                                             a.eps = 1e-3;
                                             if (m.given())
                                               a.dx = m.rows(Use::out, m.x, rows, cols);
                                             if (m.given())
                                               a.dgamma = m.vector(Use::out, m.p, cols);
                                           }};

inline constexpr Operator kRowNormForward{
    "row_norm_forward", equinorm_row_norm_forward, row_norm_forward, [](auto& a, Memory& m) {
      const auto rows = m.pick(1, 20), cols = m.pick(1, 40);
      const AnyForm form = m.form(any_form);
      a.form = form;
      a.x = m.rows(Use::in, m.x, rows, cols);
      if (has_gamma(form.form)) a.gamma = m.vector(Use::in, m.p, gamma_size(form.form, cols));
      if (form.form.gain != Gain::adaptive) a.beta = m.vector(Use::in, m.p, cols);
      a.y = m.rows(Use::out, m.y, rows, cols);
    }};

inline constexpr Operator kRowNormBackward{
    "row_norm_backward", equinorm_row_norm_backward, row_norm_backward, [](auto& a, Memory& m) {
      const auto rows = m.pick(1, 20), cols = m.pick(1, 40);
      const AnyForm form = m.form(any_form);
      a.form = form;
      a.dy = m.rows(Use::in, m.y, rows, cols);
      a.x = m.rows(Use::in, m.x, rows, cols);
      if (has_gamma(form.form)) {
        a.gamma = m.vector(Use::in, m.p, gamma_size(form.form, cols));
        if (m.given()) a.dgamma = m.vector(Use::out, m.p, gamma_size(form.form, cols));
      }
      if (m.given()) a.dx = m.rows(Use::out, m.x, rows, cols);
      if (form.form.gain != Gain::adaptive) a.dbeta = m.vector(Use::out, m.p, cols);
    }};

/// What both directions of grouped_norm have.
struct GroupedShape {
  explicit GroupedShape(Memory& m)
      : groups(m.pick(1, 4)),
        rows(m.pick(1, 9)),
        run(m.pick(1, 6)),
        cols(run * m.pick(1, 5)),
        shared(m.given()),
        size(shared ? cols : run) {}
  std::int64_t groups, rows, run, cols;
  bool shared;
  std::int64_t size;  // of the parameters

  AnyGroupedRows view(Memory& m, Use use, DType dtype) const {
    return m.grouped_rows(use, dtype, groups, rows, cols, run);
  }
  AnyGroupedVector parameters(Memory& m, Use use) const {
    return m.groups(use, m.p, groups, size, shared);
  }
};

inline constexpr Operator kGroupedNormForward{
    "grouped_norm_forward", equinorm_grouped_norm_forward, grouped_norm_forward,
    [](auto& a, Memory& m) {
      const GroupedShape shape(m);
      a.form = m.form(whole_row);
      a.x = shape.view(m, Use::in, m.x);
      if (m.given()) a.gamma = shape.parameters(m, Use::in);
      if (m.given()) a.beta = shape.parameters(m, Use::in);
      a.y = shape.view(m, Use::out, m.y);
      if (m.given()) {
        a.mean = m.vector(Use::out, DType::f64, shape.groups * shape.rows);
        a.variance = m.vector(Use::out, DType::f64, shape.groups * shape.rows);
      } else {
        a.given.mean = m.vector(Use::in, m.p, shape.groups);
        a.given.variance = m.vector(Use::positive, m.p, shape.groups);
      }
    }};

inline constexpr Operator kGroupedNormBackward{
    "grouped_norm_backward", equinorm_grouped_norm_backward, grouped_norm_backward,
    [](auto& a, Memory& m) {
      const GroupedShape shape(m);
      a.form = m.form(whole_row);
      a.dy = shape.view(m, Use::in, m.y);
      a.x = shape.view(m, Use::in, m.x);
      if (m.given()) a.gamma = shape.parameters(m, Use::in);
      if (m.given()) {
        a.given.mean = m.vector(Use::in, m.p, shape.groups);
        a.given.variance = m.vector(Use::positive, m.p, shape.groups);
      }
      if (m.given()) a.dx = shape.view(m, Use::out, m.x);
      if (m.given()) a.dgamma = shape.parameters(m, Use::out);
      if (m.given()) a.dbeta = shape.parameters(m, Use::out);
    }};

/// Sizes of an image.
struct ImageShape {
  explicit ImageShape(Memory& m)
      : groups(m.pick(1, 3)), n(m.pick(1, 4)), c(groups * m.pick(1, 4)), s(m.pick(1, 7)) {}
  std::int64_t groups, n, c, s;
  AnyImages view(Memory& m, Use use, DType dtype) const { return m.images(use, dtype, n, c, s); }
};

/// The end of all backward problems of images.
template <class Args>
void want_image_gradients(Args& a, Memory& m, const ImageShape& shape, std::int64_t size) {
  if (m.given()) a.dx = shape.view(m, Use::out, m.x);
  if (m.given()) a.dgamma = m.vector(Use::out, m.p, size);
  if (m.given()) a.dbeta = m.vector(Use::out, m.p, size);
}

inline constexpr Operator kGroupNormForward{"group_norm_forward", equinorm_group_norm_forward,
                                            group_norm_forward, [](auto& a, Memory& m) {
                                              const ImageShape shape(m);
                                              a.x = shape.view(m, Use::in, m.x);
                                              a.groups = shape.groups;
                                              if (m.given())
                                                a.gamma = m.vector(Use::in, m.p, shape.c);
                                              if (m.given())
                                                a.beta = m.vector(Use::in, m.p, shape.c);
                                              a.eps = 1e-3;
                                              a.y = shape.view(m, Use::out, m.y);
                                            }};

inline constexpr Operator kGroupNormBackward{"group_norm_backward", equinorm_group_norm_backward,
                                             group_norm_backward, [](auto& a, Memory& m) {
                                               const ImageShape shape(m);
                                               a.dy = shape.view(m, Use::in, m.y);
                                               a.x = shape.view(m, Use::in, m.x);
                                               a.groups = shape.groups;
                                               if (m.given())
                                                 a.gamma = m.vector(Use::in, m.p, shape.c);
                                               a.eps = 1e-3;
                                               want_image_gradients(a, m, shape, shape.c);
                                             }};

inline constexpr Operator kImageLayerNormForward{
    "image_layer_norm_forward", equinorm_image_layer_norm_forward, image_layer_norm_forward,
    [](auto& a, Memory& m) {
      const ImageShape shape(m);
      const Choice<LayerAxes> axes(static_cast<int>(m.pick(0, 1)));
      const auto size = axes.value == LayerAxes::channels ? shape.c : shape.c * shape.s;
      a.x = shape.view(m, Use::in, m.x);
      a.axes = axes;
      if (m.given()) a.gamma = m.vector(Use::in, m.p, size);
      if (m.given()) a.beta = m.vector(Use::in, m.p, size);
      a.eps = 1e-3;
      a.y = shape.view(m, Use::out, m.y);
    }};

inline constexpr Operator kImageLayerNormBackward{
    "image_layer_norm_backward", equinorm_image_layer_norm_backward, image_layer_norm_backward,
    [](auto& a, Memory& m) {
      const ImageShape shape(m);
      const Choice<LayerAxes> axes(static_cast<int>(m.pick(0, 1)));
      const auto size = axes.value == LayerAxes::channels ? shape.c : shape.c * shape.s;
      a.dy = shape.view(m, Use::in, m.y);
      a.x = shape.view(m, Use::in, m.x);
      a.axes = axes;
      if (m.given()) a.gamma = m.vector(Use::in, m.p, size);
      a.eps = 1e-3;
      want_image_gradients(a, m, shape, size);
    }};

/// Options of a batch norm; elements of the running statistics.
template <class Options>
std::int64_t fill_options(Options& o, Memory& m, const ImageShape& shape) {
  o.eps = 1e-3;
  o.training = m.pick(0, 1) == 1;
  o.per_position = m.pick(0, 1) == 1;
  if (!o.per_position && m.given()) o.mask = m.flags(shape.n * shape.s);
  return o.per_position ? shape.c * m.pick(1, shape.s) : shape.c;
}

inline constexpr Operator kBatchNormForward{
    "batch_norm_forward", equinorm_batch_norm_forward, batch_norm_forward, [](auto& a, Memory& m) {
      const ImageShape shape(m);
      const auto running = fill_options(a.options, m, shape);
      a.x = shape.view(m, Use::in, m.x);
      if (m.given()) a.gamma = m.vector(Use::in, m.p, shape.c);
      if (m.given()) a.beta = m.vector(Use::in, m.p, shape.c);
      if (!a.options.training || m.given()) {
        const Use use = a.options.training ? Use::in_out : Use::positive;
        a.running_mean = m.vector(use, m.p, running);
        a.running_variance = m.vector(use, m.p, running);
      }
      a.momentum = 0.25;
      a.y = shape.view(m, Use::out, m.y);
    }};

inline constexpr Operator kBatchNormBackward{
    "batch_norm_backward", equinorm_batch_norm_backward, batch_norm_backward,
    [](auto& a, Memory& m) {
      const ImageShape shape(m);
      const auto running = fill_options(a.options, m, shape);
      a.dy = shape.view(m, Use::in, m.y);
      a.x = shape.view(m, Use::in, m.x);
      if (m.given()) a.gamma = m.vector(Use::in, m.p, shape.c);
      if (!a.options.training) {
        a.running_mean = m.vector(Use::in, m.p, running);
        a.running_variance = m.vector(Use::positive, m.p, running);
      }
      want_image_gradients(a, m, shape, shape.c);
    }};

inline constexpr Operator kHeadNormForward{
    "head_norm_forward", equinorm_head_norm_forward, head_norm_forward, [](auto& a, Memory& m) {
      const auto tokens = m.pick(1, 9), heads = m.pick(1, 4), width = m.pick(1, 17);
      const bool shared = m.given();
      a.form = m.form(vector_gain);
      a.x = m.heads(Use::in, m.x, tokens, heads, width);
      if (m.given()) a.gamma = m.groups(Use::in, m.p, heads, width, shared);
      if (m.given()) a.beta = m.groups(Use::in, m.p, heads, width, shared);
      a.y = m.heads(Use::out, m.y, tokens, heads, width);
    }};

inline constexpr Operator kHeadNormBackward{
    "head_norm_backward", equinorm_head_norm_backward, head_norm_backward, [](auto& a, Memory& m) {
      const auto tokens = m.pick(1, 9), heads = m.pick(1, 4), width = m.pick(1, 17);
      const bool shared = m.given();
      a.form = m.form(vector_gain);
      a.dy = m.heads(Use::in, m.y, tokens, heads, width);
      a.x = m.heads(Use::in, m.x, tokens, heads, width);
      if (m.given()) a.gamma = m.groups(Use::in, m.p, heads, width, shared);
      if (m.given()) a.dx = m.heads(Use::out, m.x, tokens, heads, width);
      if (m.given()) a.dgamma = m.groups(Use::out, m.p, heads, width, shared);
      if (m.given()) a.dbeta = m.groups(Use::out, m.p, heads, width, shared);
    }};

}  // namespace equinorm::test
