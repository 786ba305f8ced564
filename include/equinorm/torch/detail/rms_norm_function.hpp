// RMSNorm of CPU tensors through the core, and its autograd function. Arguments are checked.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstdint>
#include <optional>

#include "equinorm/rms_norm.hpp"
#include "equinorm/torch/context.hpp"
#include "equinorm/torch/detail/arguments.hpp"
#include "equinorm/torch/detail/autograd.hpp"
#include "equinorm/torch/detail/composite.hpp"
#include "equinorm/torch/detail/row_view.hpp"
#include "equinorm/torch/detail/statistics.hpp"

namespace equinorm::torch::detail {

using RmsNormBuffer = StatisticsBuffer<1>;

inline RmsNormStatistics statistics_of(const RmsNormBuffer* buffer) {
  if (buffer == nullptr || buffer->empty()) return {};
  return {buffer->vector(0), buffer->exact()};
}

inline at::Tensor rms_norm_run(const at::Tensor& x, const at::Tensor& weight, const RowShape& shape,
                               double eps, bool add_one, const RmsNormBuffer* buffer) {
  at::Tensor y = at::empty(x.sizes(), x.options());
  const RowView x_view(x, shape);
  const ParameterView gamma(weight, shape.cols);
  check_status("rms_norm", rms_norm_forward({.x = x_view.rows(),
                                             .gamma = gamma.vector(),
                                             .add_one = add_one && shape.cols > 0,
                                             .eps = eps,
                                             .y = output_rows(y, shape),
                                             .statistics = statistics_of(buffer)},
                                            context()));
  return y;
}

/// Saves x, weight and the statistics: one number and one byte per row.
struct RmsNormFunction : ::torch::autograd::Function<RmsNormFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x,
                            const std::optional<at::Tensor>& given_weight, std::int64_t norm_dims,
                            double eps, bool add_one) {
    const at::Tensor weight = given_weight.value_or(at::Tensor());
    const RowShape shape = row_shape(x.sizes(), norm_dims);
    const RmsNormBuffer buffer(compute_type_of(x), shape.rows);
    at::Tensor y = rms_norm_run(x, weight, shape, eps, add_one, &buffer);
    ctx->set_materialize_grads(false);
    ctx->saved_data["norm_dims"] = norm_dims;
    ctx->saved_data["eps"] = eps;
    ctx->saved_data["add_one"] = add_one;
    ctx->save_for_backward({x, weight, buffer.tensor()});
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const at::Tensor& dy = gradients[0];
    if (!dy.defined()) return variable_list(5);
    const auto saved = ctx->get_saved_variables();
    const at::Tensor& x = saved[0];
    const at::Tensor& weight = saved[1];
    const std::int64_t norm_dims = ctx->saved_data["norm_dims"].toInt();
    const double eps = ctx->saved_data["eps"].toDouble();
    const bool add_one = ctx->saved_data["add_one"].toBool();
    const RowShape shape = row_shape(x.sizes(), norm_dims);
    const RmsNormBuffer buffer(saved[2], compute_type_of(x), shape.rows);
    WantedGradients wanted(*ctx);
    const at::Tensor dx = wanted.next(x);
    const at::Tensor dweight = wanted.next(weight);
    const RowView dy_view(dy, shape);
    const RowView x_view(x, shape);
    const ParameterView gamma(weight, shape.cols);
    check_status("rms_norm", rms_norm_backward({.dy = dy_view.rows(),
                                                .x = x_view.rows(),
                                                .gamma = gamma.vector(),
                                                .add_one = add_one && shape.cols > 0,
                                                .eps = eps,
                                                .statistics = statistics_of(&buffer),
                                                .dx = output_rows(dx, shape),
                                                .dgamma = output_vector(dweight, shape.cols)},
                                               context()));
    return differentiable({dx, dweight, at::Tensor(), at::Tensor(), at::Tensor()}, dy, {x, weight},
                          [norm_dims, eps, add_one](const variable_list& t) {
                            return rms_norm_composite(t[0], norm_dims, t[1], eps, add_one);
                          });
  }
};

}  // namespace equinorm::torch::detail
