// Every form of row norm of CPU tensors through the core, and its autograd function. Arguments are
// checked.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstdint>
#include <optional>

#include "equinorm/row_norm.hpp"
#include "equinorm/torch/context.hpp"
#include "equinorm/torch/detail/arguments.hpp"
#include "equinorm/torch/detail/autograd.hpp"
#include "equinorm/torch/detail/composite.hpp"
#include "equinorm/torch/detail/row_view.hpp"

namespace equinorm::torch::detail {

inline at::Tensor row_norm_run(const at::Tensor& x, const RowForm& form, const at::Tensor& gamma,
                               const at::Tensor& beta) {
  const RowShape shape = row_shape(x.sizes(), 1);
  at::Tensor y = at::empty(x.sizes(), x.options());
  const RowView x_view(x, shape);
  const ParameterView gain(gamma, gamma.defined() ? gamma.numel() : 0);
  const ParameterView shift(beta, shape.cols);
  check_status("row_norm", row_norm_forward({.form = form,
                                             .x = x_view.rows(),
                                             .gamma = gain.vector(),
                                             .beta = shift.vector(),
                                             .y = output_rows(y, shape)},
                                            context()));
  return y;
}

/// A form as autograd functions can save it.
inline std::vector<double> numbers_of(const RowForm& form) {
  return {form.centered ? 1.0 : 0.0,
          static_cast<double>(form.spread),
          form.unbiased ? 1.0 : 0.0,
          static_cast<double>(form.gain),
          form.eps,
          form.detach_mean ? 1.0 : 0.0,
          form.detach_spread ? 1.0 : 0.0,
          form.scale,
          form.slope,
          form.part};
}

inline RowForm form_of(const std::vector<double>& n) {
  return {.centered = n[0] != 0,
          .spread = static_cast<Spread>(n[1]),
          .unbiased = n[2] != 0,
          .gain = static_cast<Gain>(n[3]),
          .eps = n[4],
          .detach_mean = n[5] != 0,
          .detach_spread = n[6] != 0,
          .scale = n[7],
          .slope = n[8],
          .part = n[9]};
}

/// Saves x, gamma and, for its type alone, beta; the statistics are computed again.
struct RowNormFunction : ::torch::autograd::Function<RowNormFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x,
                            const std::optional<at::Tensor>& given_gamma,
                            const std::optional<at::Tensor>& given_beta, const RowForm& form) {
    const at::Tensor gamma = given_gamma.value_or(at::Tensor());
    const at::Tensor beta = given_beta.value_or(at::Tensor());
    ctx->set_materialize_grads(false);
    ctx->saved_data["form"] = numbers_of(form);
    ctx->save_for_backward({x, gamma, beta});
    return row_norm_run(x, form, gamma, beta);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const at::Tensor& dy = gradients[0];
    if (!dy.defined()) return variable_list(4);
    const auto saved = ctx->get_saved_variables();
    const at::Tensor& x = saved[0];
    const at::Tensor& gamma = saved[1];
    const at::Tensor& beta = saved[2];
    const RowForm form = form_of(ctx->saved_data["form"].toDoubleVector());
    const RowShape shape = row_shape(x.sizes(), 1);
    WantedGradients wanted(*ctx);
    const at::Tensor dx = wanted.next(x);
    const at::Tensor dgamma = wanted.next(gamma);
    const at::Tensor dbeta = wanted.next(beta);
    const std::int64_t gain_size = gamma.defined() ? gamma.numel() : 0;
    const RowView dy_view(dy, shape);
    const RowView x_view(x, shape);
    const ParameterView gain(gamma, gain_size);
    check_status("row_norm", row_norm_backward({.form = form,
                                                .dy = dy_view.rows(),
                                                .x = x_view.rows(),
                                                .gamma = gain.vector(),
                                                .dx = output_rows(dx, shape),
                                                .dgamma = output_vector(dgamma, gain_size),
                                                .dbeta = output_vector(dbeta, shape.cols)},
                                               context()));
    return differentiable(
        {dx, dgamma, dbeta, at::Tensor()}, dy, {x, gamma, beta},
        [form](const variable_list& t) { return row_norm_composite(t[0], form, t[1], t[2]); });
  }
};

}  // namespace equinorm::torch::detail
