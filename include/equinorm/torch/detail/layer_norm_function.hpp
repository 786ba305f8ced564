// LayerNorm of CPU tensors through the core, and its autograd function. Arguments are checked.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstdint>
#include <optional>

#include "equinorm/layer_norm.hpp"
#include "equinorm/torch/context.hpp"
#include "equinorm/torch/detail/arguments.hpp"
#include "equinorm/torch/detail/autograd.hpp"
#include "equinorm/torch/detail/composite.hpp"
#include "equinorm/torch/detail/row_view.hpp"
#include "equinorm/torch/detail/statistics.hpp"

namespace equinorm::torch::detail {

using LayerNormBuffer = StatisticsBuffer<3>;

inline LayerNormStatistics statistics_of(const LayerNormBuffer* buffer) {
  if (buffer == nullptr || buffer->empty()) return {};
  return {buffer->vector(0), buffer->vector(1), buffer->vector(2), buffer->exact()};
}

inline at::Tensor layer_norm_run(const at::Tensor& x, const at::Tensor& weight,
                                 const at::Tensor& bias, const RowShape& shape, double eps,
                                 const LayerNormBuffer* buffer) {
  at::Tensor y = at::empty(x.sizes(), x.options());
  const RowView x_view(x, shape);
  const ParameterView gamma(weight, shape.cols);
  const ParameterView beta(bias, shape.cols);
  check_status("layer_norm", layer_norm_forward({.x = x_view.rows(),
                                                 .gamma = gamma.vector(),
                                                 .beta = beta.vector(),
                                                 .eps = eps,
                                                 .y = output_rows(y, shape),
                                                 .statistics = statistics_of(buffer)},
                                                context()));
  return y;
}

/// Saves x, weight, bias (for its type alone) and the statistics.
struct LayerNormFunction : ::torch::autograd::Function<LayerNormFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x,
                            const std::optional<at::Tensor>& given_weight,
                            const std::optional<at::Tensor>& given_bias, std::int64_t norm_dims,
                            double eps) {
    const at::Tensor weight = given_weight.value_or(at::Tensor());
    const at::Tensor bias = given_bias.value_or(at::Tensor());
    const RowShape shape = row_shape(x.sizes(), norm_dims);
    const LayerNormBuffer buffer(compute_type_of(x), shape.rows);
    at::Tensor y = layer_norm_run(x, weight, bias, shape, eps, &buffer);
    ctx->set_materialize_grads(false);
    ctx->saved_data["norm_dims"] = norm_dims;
    ctx->saved_data["eps"] = eps;
    ctx->save_for_backward({x, weight, bias, buffer.tensor()});
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const at::Tensor& dy = gradients[0];
    if (!dy.defined()) return variable_list(5);
    const auto saved = ctx->get_saved_variables();
    const at::Tensor& x = saved[0];
    const at::Tensor& weight = saved[1];
    const at::Tensor& bias = saved[2];
    const std::int64_t norm_dims = ctx->saved_data["norm_dims"].toInt();
    const double eps = ctx->saved_data["eps"].toDouble();
    const RowShape shape = row_shape(x.sizes(), norm_dims);
    const LayerNormBuffer buffer(saved[3], compute_type_of(x), shape.rows);
    WantedGradients wanted(*ctx);
    const at::Tensor dx = wanted.next(x);
    const at::Tensor dweight = wanted.next(weight);
    const at::Tensor dbias = wanted.next(bias);
    const RowView dy_view(dy, shape);
    const RowView x_view(x, shape);
    const ParameterView gamma(weight, shape.cols);
    check_status("layer_norm", layer_norm_backward({.dy = dy_view.rows(),
                                                    .x = x_view.rows(),
                                                    .gamma = gamma.vector(),
                                                    .eps = eps,
                                                    .statistics = statistics_of(&buffer),
                                                    .dx = output_rows(dx, shape),
                                                    .dgamma = output_vector(dweight, shape.cols),
                                                    .dbeta = output_vector(dbias, shape.cols)},
                                                   context()));
    return differentiable({dx, dweight, dbias, at::Tensor(), at::Tensor()}, dy, {x, weight, bias},
                          [norm_dims, eps](const variable_list& t) {
                            return layer_norm_composite(t[0], norm_dims, t[1], t[2], eps);
                          });
  }
};

}  // namespace equinorm::torch::detail
