// What the autograd functions of both operators share.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

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

  /// Whether the gradient of the next input is wanted.
  bool wants(const at::Tensor& input) { return input.defined() && ctx_.needs_input_grad(edge_++); }

  /// A new tensor like `input`, or an undefined one where its gradient is not wanted.
  at::Tensor next(const at::Tensor& input) {
    return wants(input) ? at::empty(input.sizes(), input.options()) : at::Tensor();
  }

 private:
  const AutogradContext& ctx_;
  std::size_t edge_ = 0;
};

/// The operator in LibTorch's elementary operators, a function of its tensor arguments.
using Composite = std::function<at::Tensor(const variable_list&)>;

/// Passes gradients through; what differentiates them in turn gets derivatives of the composite, by
/// LibTorch's own operators and outside the numerics contract.
struct DifferentiateAgain : ::torch::autograd::Function<DifferentiateAgain> {
  struct Recipe : ::torch::CustomClassHolder {
    Composite composite;
    std::size_t inputs = 0;            ///< of the composite, undefined ones included
    std::vector<std::size_t> present;  ///< those that are defined; the sources after dy
    std::vector<std::size_t> wanted;   ///< those that the gradients belong to
  };

  static variable_list forward(AutogradContext* ctx, at::TensorList gradients,
                               at::TensorList sources, const c10::intrusive_ptr<Recipe>& recipe) {
    ctx->saved_data["recipe"] = c10::IValue::make_capsule(recipe);
    ctx->save_for_backward(sources.vec());
    ctx->set_materialize_grads(false);
    return gradients.vec();
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& directions) {
    const bool recorded = at::GradMode::is_enabled();
    const at::AutoGradMode record(true);
    const auto capsule = ctx->saved_data["recipe"].toCapsule();
    const auto& recipe = static_cast<const Recipe&>(*capsule);
    const auto sources = ctx->get_saved_variables();
    variable_list inputs(recipe.inputs);
    for (std::size_t i = 0; i < recipe.present.size(); ++i) {
      inputs[recipe.present[i]] = sources[i + 1];
    }
    variable_list of;
    for (const std::size_t i : recipe.wanted) of.push_back(inputs[i]);
    const auto first = ::torch::autograd::grad({recipe.composite(inputs)}, of, {sources[0]},
                                               /*retain_graph=*/true, /*create_graph=*/true,
                                               /*allow_unused=*/true);
    variable_list values, along, by;
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (!directions[i].defined() || !first[i].defined() || !first[i].requires_grad()) continue;
      values.push_back(first[i]);
      along.push_back(directions[i]);
    }
    for (const at::Tensor& source : sources) {
      if (source.requires_grad()) by.push_back(source);
    }
    variable_list result(recipe.wanted.size() + sources.size() + 1);
    if (values.empty() || by.empty()) return result;
    const auto second = ::torch::autograd::grad(values, by, along, /*retain_graph=*/true, recorded,
                                                /*allow_unused=*/true);
    std::size_t next = 0;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (sources[i].requires_grad()) result[recipe.wanted.size() + i] = second[next++];
    }
    return result;
  }
};

/// `gradients` of composite(inputs) in direction dy; under create_graph they can be differentiated
/// again.
inline variable_list differentiable(variable_list gradients, const at::Tensor& dy,
                                    const variable_list& inputs, const Composite& composite) {
  if (!at::GradMode::is_enabled()) return gradients;
  auto recipe = c10::make_intrusive<DifferentiateAgain::Recipe>();
  recipe->composite = composite;
  recipe->inputs = inputs.size();
  variable_list defined, sources = {dy};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].defined()) {
      recipe->present.push_back(i);
      sources.push_back(inputs[i]);
    }
    if (gradients[i].defined()) {
      recipe->wanted.push_back(i);
      defined.push_back(gradients[i]);
    }
  }
  if (defined.empty()) return gradients;
  const auto tied =
      DifferentiateAgain::apply(at::TensorList(defined), at::TensorList(sources), recipe);
  for (std::size_t i = 0; i < tied.size(); ++i) gradients[recipe->wanted[i]] = tied[i];
  return gradients;
}

}  // namespace equinorm::torch::detail
