// What the autograd functions of both operators share.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstddef>
#include <optional>
#include <utility>

namespace equinorm::torch::detail {

using ::torch::autograd::AutogradContext;
using ::torch::autograd::variable_list;

/// Whether a call on `tensors` must go through an autograd function: one of them wants a gradient,
/// or carries a forward-mode tangent (which the function then refuses instead of dropping it).
template <class... Tensors>
bool needs_graph(const Tensors&... tensors) {
  const bool grad_mode = at::GradMode::is_enabled();
  return (... || (tensors.defined() &&
                  ((grad_mode && tensors.requires_grad()) || tensors._fw_grad(0).defined())));
}

/// Autograd functions take absent tensors as nullopt: an undefined Tensor they refuse.
inline std::optional<at::Tensor> as_optional(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

/// Outputs of a backward pass for the inputs of the forward pass, asked for in their order. Absent
/// inputs have no edge in the graph, so the index of an edge is the number of present ones before.
class WantedGradients {
 public:
  explicit WantedGradients(const AutogradContext& ctx) : ctx_(ctx) {}

  /// A new tensor like `input`, or an undefined one where its gradient is not wanted.
  at::Tensor next(const at::Tensor& input) {
    if (!input.defined() || !ctx_.needs_input_grad(edge_++)) return {};
    return at::empty(input.sizes(), input.options());
  }

 private:
  const AutogradContext& ctx_;
  std::size_t edge_ = 0;
};

/// Passes gradients through and fails when they are differentiated in turn: the backward kernels
/// are opaque to autograd, and a silent zero second derivative would be wrong.
struct DifferentiableOnce : ::torch::autograd::Function<DifferentiableOnce> {
  static variable_list forward(AutogradContext* /*ctx*/, at::TensorList gradients,
                               at::TensorList /*sources*/) {
    return gradients.vec();
  }

  static variable_list backward(AutogradContext* /*ctx*/, const variable_list& /*gradients*/) {
    TORCH_CHECK(false,
                "equinorm::torch: second derivatives of layer_norm and rms_norm are not available; "
                "use at::layer_norm or at::rms_norm where they are needed");
  }
};

/// Under create_graph, ties the defined ones of `gradients` to `sources` through
/// DifferentiableOnce.
inline variable_list differentiable_once(variable_list gradients, const variable_list& sources) {
  if (!at::GradMode::is_enabled()) return gradients;
  variable_list defined;
  for (const auto& gradient : gradients) {
    if (gradient.defined()) defined.push_back(gradient);
  }
  if (defined.empty()) return gradients;
  variable_list present;
  for (const auto& source : sources) {
    if (source.defined()) present.push_back(source);
  }
  const auto tied = DifferentiableOnce::apply(at::TensorList(defined), at::TensorList(present));
  auto next = tied.begin();
  for (auto& gradient : gradients) {
    if (gradient.defined()) gradient = *next++;
  }
  return gradients;
}

}  // namespace equinorm::torch::detail
