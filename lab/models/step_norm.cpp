// Norms inside a recurrent step.
//
// Not here: the recurrence. The one trap: the backward pass of a batch norm records a graph of its
// own for a moment; nothing of it is left behind.
#include "lab/models/step_norm.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

#include "equinorm/layer_norm.hpp"
#include "equinorm/torch/context.hpp"
#include "equinorm/torch/detail/row_view.hpp"
#include "equinorm/torch/token_batch_norm.hpp"

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

// Averages of this step and those behind it, as evaluation uses them; undefined where training has
// nothing to record: behind the last of them, and from a single row, which says nothing about the
// variance.
at::Tensor averages_at(const StepNorm& norm, const at::Tensor& averages, std::int64_t step,
                       std::int64_t rows) {
  if (norm.training && (step >= averages.size(0) || rows < 2)) return {};
  return averages.narrow(0, std::min(step, averages.size(0) - 1), 1);
}

// Of the rows of x, all of them real: samples of one time step.
at::Tensor batch_norm_of_step(const StepNorm& norm, const at::Tensor& x,
                              const StepAverages& averages) {
  return equinorm::torch::per_step_batch_norm(x.unsqueeze(1), averages.mean, averages.variance,
                                              norm.gamma, norm.beta, norm.training, kAverageWeight,
                                              norm.eps)
      .squeeze(1);
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
  const auto averages = [&](const at::Tensor& all) {
    return averages_at(norm, all, place.step, real.size(0));
  };
  const at::Tensor y = batch_norm_of_step(
      norm, real, {averages(norm.averages.mean), averages(norm.averages.variance)});
  return put(y, x, place);
}

// The forward pass once more under autograd, without recording anything.
StepNormGradients columns_backward(const StepNorm& norm, const at::Tensor& dy, const at::Tensor& x,
                                   const StepPlace& place) {
  const at::AutoGradMode grad_mode(true);
  const auto leaf = [](const at::Tensor& t) { return t.detach().requires_grad_(); };
  StepNorm again = norm;
  std::vector<at::Tensor> leaves{leaf(pick(x, place)), again.gamma = leaf(norm.gamma)};
  if (norm.beta.defined()) leaves.push_back(again.beta = leaf(norm.beta));
  const auto averages = [&](const at::Tensor& all) {
    return norm.training ? at::Tensor() : averages_at(norm, all, place.step, x.size(0));
  };
  const at::Tensor y = batch_norm_of_step(
      again, leaves[0], {averages(norm.averages.mean), averages(norm.averages.variance)});
  const auto gradients = ::torch::autograd::grad({y}, leaves, {pick(dy, place)});
  return {put(gradients[0], x, place), gradients[1],
          norm.beta.defined() ? gradients[2] : at::Tensor()};
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
