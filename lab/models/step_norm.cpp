// Norms inside a recurrent step.
#include "lab/models/step_norm.hpp"

#include <ATen/ops/empty_like.h>

#include <algorithm>

#include "equinorm/images.hpp"
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

ConstImages columns_of(const at::Tensor& x) {
  return {.data = x.const_data_ptr(),
          .dtype = dtype_of(x),
          .samples = x.size(0),
          .channels = x.size(1),
          .sample_stride = x.size(1),
          .channel_stride = 1};
}

Images output_columns(const at::Tensor& y) {
  return {.data = y.mutable_data_ptr(),
          .dtype = dtype_of(y),
          .samples = y.size(0),
          .channels = y.size(1),
          .sample_stride = y.size(1),
          .channel_stride = 1};
}

BatchNormOptions batch_options(const StepNorm& norm, const StepPlace& place) {
  BatchNormOptions options{.eps = norm.eps, .training = norm.training};
  if (place.real.defined()) {
    options.mask = reinterpret_cast<const std::uint8_t*>(place.real.const_data_ptr<bool>());
  }
  return options;
}

Vector whole(const at::Tensor& v) {
  return v.defined() ? part_of_vector(v, 0, v.numel()) : Vector{};
}

/// The averages that a step reads, or in training writes. A single row says nothing about the
/// variance.
StepAverages averages_at(const StepNorm& norm, const at::Tensor& x, const StepPlace& place) {
  const std::int64_t steps = norm.averages.mean.size(0);
  const std::int64_t rows =
      place.real.defined() ? place.real.sum().item<std::int64_t>() : x.size(0);
  if (norm.training && (place.step >= steps || rows < 2)) return {};
  const std::int64_t step = std::min(place.step, steps - 1);
  return {norm.averages.mean[step], norm.averages.variance[step]};
}

at::Tensor columns_forward(const StepNorm& norm, const at::Tensor& x, const StepPlace& place) {
  at::Tensor y = at::empty_like(x);
  const StepAverages averages = averages_at(norm, x, place);
  check(batch_norm_forward({.x = columns_of(x),
                            .options = batch_options(norm, place),
                            .gamma = whole(norm.gamma),
                            .beta = whole(norm.beta),
                            .running_mean = whole(averages.mean),
                            .running_variance = whole(averages.variance),
                            .momentum = kAverageWeight,
                            .y = output_columns(y)},
                           equinorm::torch::context()));
  return y;
}

StepNormGradients columns_backward(const StepNorm& norm, const at::Tensor& dy, const at::Tensor& x,
                                   const StepPlace& place) {
  StepNormGradients gradients{at::empty_like(x), at::empty_like(norm.gamma), {}};
  if (norm.beta.defined()) gradients.beta = at::empty_like(norm.beta);
  const StepAverages averages = norm.training ? StepAverages{} : averages_at(norm, x, place);
  check(batch_norm_backward({.dy = columns_of(dy),
                             .x = columns_of(x),
                             .options = batch_options(norm, place),
                             .gamma = whole(norm.gamma),
                             .running_mean = whole(averages.mean),
                             .running_variance = whole(averages.variance),
                             .dx = output_columns(gradients.x),
                             .dgamma = whole(gradients.gamma),
                             .dbeta = whole(gradients.beta)},
                            equinorm::torch::context()));
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
