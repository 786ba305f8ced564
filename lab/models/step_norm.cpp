// Norms inside a recurrent step.
#include "lab/models/step_norm.hpp"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/var_mean.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <optional>

#include "equinorm/layer_norm.hpp"
#include "equinorm/torch/context.hpp"
#include "equinorm/torch/detail/row_view.hpp"

namespace equinorm::lab {
namespace {

namespace detail = equinorm::torch::detail;

constexpr double kAverageWeight = 0.1;

DType dtype_of(const at::Tensor& x) { return *detail::dtype_of(x.scalar_type()); }

// Columns [first, first + cols) of a contiguous matrix.
ConstRows part_of(const at::Tensor& x, std::int64_t first, std::int64_t cols) {
  const auto* bytes = static_cast<const char*>(x.const_data_ptr());
  return {bytes + first * x.element_size(), dtype_of(x), x.size(0), cols, x.size(1)};
}

Rows part_of_output(const at::Tensor& y, std::int64_t first, std::int64_t cols) {
  auto* bytes = static_cast<char*>(y.mutable_data_ptr());
  return {bytes + first * y.element_size(), dtype_of(y), y.size(0), cols, y.size(1)};
}

Vector part_of_vector(const at::Tensor& v, std::int64_t first, std::int64_t size) {
  if (!v.defined()) return {};
  return {static_cast<char*>(v.mutable_data_ptr()) + first * v.element_size(), dtype_of(v), size};
}

ConstVector const_part_of_vector(const at::Tensor& v, std::int64_t first, std::int64_t size) {
  if (!v.defined()) return {};
  const auto* bytes = static_cast<const char*>(v.const_data_ptr());
  return {bytes + first * v.element_size(), dtype_of(v), size};
}

// LayerNorm of each of `parts` equal parts of every row.
at::Tensor parts_forward(const StepNorm& norm, const at::Tensor& x, std::int64_t parts) {
  at::Tensor y = at::empty_like(x);
  const std::int64_t cols = x.size(1) / parts;
  for (std::int64_t first = 0; first < x.size(1); first += cols) {
    check(layer_norm_forward({.x = part_of(x, first, cols),
                              .gamma = const_part_of_vector(norm.gamma, first, cols),
                              .beta = const_part_of_vector(norm.beta, first, cols),
                              .eps = norm.eps,
                              .y = part_of_output(y, first, cols),
                              .statistics = {}},
                             equinorm::torch::context()));
  }
  return y;
}

StepNormGradients parts_backward(const StepNorm& norm, const at::Tensor& dy, const at::Tensor& x,
                                 std::int64_t parts) {
  StepNormGradients gradients{at::empty_like(x), {}, {}};
  if (norm.gamma.defined()) gradients.gamma = at::empty_like(norm.gamma);
  if (norm.beta.defined()) gradients.beta = at::empty_like(norm.beta);
  const std::int64_t cols = x.size(1) / parts;
  for (std::int64_t first = 0; first < x.size(1); first += cols) {
    check(layer_norm_backward({.dy = part_of(dy, first, cols),
                               .x = part_of(x, first, cols),
                               .gamma = const_part_of_vector(norm.gamma, first, cols),
                               .eps = norm.eps,
                               .statistics = {},
                               .dx = part_of_output(gradients.x, first, cols),
                               .dgamma = part_of_vector(gradients.gamma, first, cols),
                               .dbeta = part_of_vector(gradients.beta, first, cols)},
                              equinorm::torch::context()));
  }
  return gradients;
}

// A row of the core per feature, without gain: what batch normalization does to a column.
StepNorm feature_rows(const StepNorm& norm) {
  StepNorm plain;
  plain.kind = StepNorm::Kind::rows;
  plain.eps = norm.eps;
  return plain;
}

at::Tensor averages_at(const at::Tensor& averages, std::int64_t step) {
  return averages[std::min(step, averages.size(0) - 1)];
}

void update_averages(const StepNorm& norm, const at::Tensor& x, std::int64_t step) {
  // A single row says nothing about the variance.
  if (step >= norm.averages.mean.size(0) || x.size(0) < 2) return;
  const auto [variance, mean] = at::var_mean(x, at::IntArrayRef{0}, /*correction=*/1);
  norm.averages.mean[step].lerp_(mean, kAverageWeight);
  norm.averages.variance[step].lerp_(variance, kAverageWeight);
}

// xhat of the rows of x, all of them real.
at::Tensor normalized_columns(const StepNorm& norm, const at::Tensor& x, std::int64_t step) {
  if (norm.training) return parts_forward(feature_rows(norm), x.t().contiguous(), 1).t();
  const at::Tensor rstd = (averages_at(norm.averages.variance, step) + norm.eps).rsqrt();
  return (x - averages_at(norm.averages.mean, step)) * rstd;
}

at::Tensor pick(const at::Tensor& x, const StepPlace& place) {
  return place.real_rows.defined() ? x.index_select(0, place.real_rows) : x;
}

at::Tensor put(const at::Tensor& values, const at::Tensor& like, const StepPlace& place) {
  if (!place.real_rows.defined()) return values.contiguous();
  return at::zeros_like(like).index_copy_(0, place.real_rows, values);
}

at::Tensor columns_forward(const StepNorm& norm, const at::Tensor& x, const StepPlace& place) {
  const at::Tensor real = pick(x, place);
  if (norm.training) update_averages(norm, real, place.step);
  at::Tensor y = normalized_columns(norm, real, place.step) * norm.gamma;
  if (norm.beta.defined()) y += norm.beta;
  return put(y, x, place);
}

StepNormGradients columns_backward(const StepNorm& norm, const at::Tensor& dy, const at::Tensor& x,
                                   const StepPlace& place) {
  const at::Tensor real = pick(x, place);
  const at::Tensor real_dy = pick(dy, place);
  const at::Tensor xhat = normalized_columns(norm, real, place.step);
  StepNormGradients gradients{{}, (real_dy * xhat).sum(0), {}};
  if (norm.beta.defined()) gradients.beta = real_dy.sum(0);
  const at::Tensor g = real_dy * norm.gamma;
  at::Tensor dx;
  if (norm.training) {
    const at::Tensor rows = real.t().contiguous();
    dx = parts_backward(feature_rows(norm), g.t().contiguous(), rows, 1).x.t();
  } else {
    dx = g * (averages_at(norm.averages.variance, place.step) + norm.eps).rsqrt();
  }
  gradients.x = put(dx, x, place);
  return gradients;
}

}  // namespace

at::Tensor step_norm_forward(const StepNorm& norm, const at::Tensor& x, const StepPlace& place) {
  switch (norm.kind) {
    case StepNorm::Kind::none:
      break;
    case StepNorm::Kind::rows:
      return parts_forward(norm, x, 1);
    case StepNorm::Kind::gates:
      return parts_forward(norm, x, 4);
    case StepNorm::Kind::columns:
      return columns_forward(norm, x, place);
  }
  return x;
}

StepNormGradients step_norm_backward(const StepNorm& norm, const at::Tensor& dy,
                                     const at::Tensor& x, const StepPlace& place) {
  switch (norm.kind) {
    case StepNorm::Kind::none:
      break;
    case StepNorm::Kind::rows:
      return parts_backward(norm, dy, x, 1);
    case StepNorm::Kind::gates:
      return parts_backward(norm, dy, x, 4);
    case StepNorm::Kind::columns:
      return columns_backward(norm, dy, x, place);
  }
  return {dy, {}, {}};
}

}  // namespace equinorm::lab
