// What a norm of tensors is to autograd: an object that runs forward and backward in the core and
// knows its formula in LibTorch's elementary operators. Arguments are checked.
//
// LayerNorm and RMSNorm have functions of their own, which keep statistics; operators here keep x,
// and the core computes the statistics again. The one trap: `constants` are tensors that the
// backward pass reads too (running statistics, masks). Changing them between the passes is an
// error, as for x.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>

#include <optional>
#include <utility>

#include "equinorm/torch/context.hpp"
#include "equinorm/torch/detail/arguments.hpp"
#include "equinorm/torch/detail/autograd.hpp"

namespace equinorm::torch::detail {

/// x, and what multiplies and what is added to its normalized values; all but x may be undefined.
struct NormInputs {
  at::Tensor x;
  at::Tensor weight;
  at::Tensor bias;
};

/// A norm with its options.
class NormOperator : public ::torch::CustomClassHolder {
 public:
  explicit NormOperator(const char* name) : name_(name) {}

  [[nodiscard]] const char* name() const { return name_; }
  [[nodiscard]] const variable_list& constants() const { return constants_; }

  /// CPU tensors, through the core; y is new and comes from like(x).
  virtual void forward(const NormInputs& in, const at::Tensor& y) const = 0;
  /// Gradients into `d`, those that are defined; d.x comes from like(x).
  virtual void backward(const at::Tensor& dy, const NormInputs& in, const NormInputs& d) const = 0;
  /// The formula in elementary operators, without any other effect.
  [[nodiscard]] virtual at::Tensor composite(const NormInputs& in) const = 0;
  /// The other effects of a forward pass that went through composite().
  virtual void record(const at::Tensor& /*x*/) const {}
  /// New memory for an output of x's shape.
  [[nodiscard]] virtual at::Tensor like(const at::Tensor& x) const {
    return at::empty_like(x, at::MemoryFormat::Contiguous);
  }

 protected:
  void keep(const at::Tensor& constant) {
    if (constant.defined()) constants_.push_back(constant);
  }

 private:
  const char* name_;
  variable_list constants_;
};

using NormPointer = c10::intrusive_ptr<NormOperator>;

struct NormFunction : ::torch::autograd::Function<NormFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x,
                            const std::optional<at::Tensor>& weight,
                            const std::optional<at::Tensor>& bias, const NormPointer& norm) {
    const NormInputs in{x, weight.value_or(at::Tensor()), bias.value_or(at::Tensor())};
    at::Tensor y = norm->like(x);
    norm->forward(in, y);
    ctx->set_materialize_grads(false);
    ctx->saved_data["norm"] = c10::IValue::make_capsule(norm);
    variable_list kept = {in.x, in.weight, in.bias};
    kept.insert(kept.end(), norm->constants().begin(), norm->constants().end());
    ctx->save_for_backward(std::move(kept));
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const at::Tensor& dy = gradients[0];
    if (!dy.defined()) return variable_list(4);
    const auto saved = ctx->get_saved_variables();
    const NormInputs in{saved[0], saved[1], saved[2]};
    const auto norm =
        c10::static_intrusive_pointer_cast<NormOperator>(ctx->saved_data["norm"].toCapsule());
    WantedGradients wanted(*ctx);
    NormInputs d;
    if (wanted.wants(in.x)) d.x = norm->like(in.x);
    d.weight = wanted.next(in.weight);
    d.bias = wanted.next(in.bias);
    norm->backward(dy, in, d);
    return differentiable({d.x, d.weight, d.bias, at::Tensor()}, dy, {in.x, in.weight, in.bias},
                          [norm](const variable_list& t) {
                            return norm->composite({t[0], t[1], t[2]});
                          });
  }
};

/// One call of a norm.
inline at::Tensor apply(const NormPointer& norm, const NormInputs& in) {
  if (!in.x.is_cpu()) {
    at::Tensor y = norm->composite(in);
    norm->record(in.x);
    return y;
  }
  if (needs_graph(in.x, in.weight, in.bias)) {
    return NormFunction::apply(in.x, as_optional(in.weight), as_optional(in.bias), norm);
  }
  at::Tensor y = norm->like(in.x);
  norm->forward(in, y);
  return y;
}

}  // namespace equinorm::torch::detail
