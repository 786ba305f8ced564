// Adam. All parameters share one step counter, since all are updated in every step.
#include "lab/training/optimizer.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

namespace equinorm::lab {

Adam::Adam(const std::vector<Parameter>& parameters) : steps_(at::zeros({}, at::kFloat)) {
  for (const Parameter& parameter : parameters) {
    parameters_.push_back(parameter.value);
    first_moments_.push_back(at::zeros_like(parameter.value));
    second_moments_.push_back(at::zeros_like(parameter.value));
  }
}

std::vector<at::Tensor> Adam::gradients() const {
  std::vector<at::Tensor> gradients;
  gradients.reserve(parameters_.size());
  for (const at::Tensor& parameter : parameters_) {
    const at::Tensor& gradient = parameter.grad();
    gradients.push_back(gradient.defined() ? gradient : at::zeros_like(parameter));
  }
  return gradients;
}

GradientNorms Adam::gradient_norms() {
  const at::NoGradGuard no_grad;
  GradientNorms norms;
  double squares = 0;
  for (const at::Tensor& norm : at::_foreach_norm(gradients(), 2)) {
    const double value = norm.item<double>();
    norms.per_parameter.push_back(value);
    squares += value * value;
  }
  norms.total = std::sqrt(squares);
  return norms;
}

void Adam::scale_gradients(double factor) {
  const at::NoGradGuard no_grad;
  at::_foreach_mul_(gradients(), factor);
}

void Adam::step(double learning_rate) {
  const at::NoGradGuard no_grad;
  steps_.add_(1);
  const std::vector<at::Tensor> steps(parameters_.size(), steps_);
  at::_fused_adam_(parameters_, gradients(), first_moments_, second_moments_, {}, steps,
                   learning_rate, 0.9, 0.999, 0.0, 1e-8, false, false);
  drop_gradients();
}

void Adam::drop_gradients() {
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad() = at::Tensor();
}

}  // namespace equinorm::lab
