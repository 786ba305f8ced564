// What has a learned number alpha beside gamma and beta, DyT and blended norms, for autograd.
// Arguments are checked.
//
// The one trap: alpha has one element whatever its shape; its gradient has alpha's shape.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/lerp.h>
#include <ATen/ops/tanh.h>

#include <optional>
#include <vector>

#include "equinorm/blended_norm.hpp"
#include "equinorm/dynamic_tanh.hpp"
#include "equinorm/torch/context.hpp"
#include "equinorm/torch/detail/arguments.hpp"
#include "equinorm/torch/detail/autograd.hpp"
#include "equinorm/torch/detail/composite.hpp"
#include "equinorm/torch/detail/row_norm_function.hpp"
#include "equinorm/torch/detail/row_view.hpp"

namespace equinorm::torch::detail {

struct AlphaInputs {
  at::Tensor x, alpha, gamma, beta;
};

/// The tensors of a call as the core sees them.
struct AlphaViews {
  RowView x;
  ParameterView alpha, gamma, beta;

  AlphaViews(const AlphaInputs& in, const RowShape& shape)
      : x(in.x, shape),
        alpha(in.alpha, 1),
        gamma(in.gamma, shape.cols),
        beta(in.beta, shape.cols) {}
};

struct DynamicTanhOperator {
  static constexpr const char* kName = "dynamic_tanh";

  static Status forward(const AlphaViews& in, const RowForm& /*form*/, const Rows& y) {
    return dynamic_tanh_forward(
        {in.x.rows(), in.alpha.vector(), in.gamma.vector(), in.beta.vector(), y}, context());
  }
  static Status backward(const ConstRows& dy, const AlphaViews& in, const RowForm& /*form*/,
                         const Rows& dx, const Vector& dalpha, const Vector& dgamma,
                         const Vector& dbeta) {
    return dynamic_tanh_backward(
        {dy, in.x.rows(), in.alpha.vector(), in.gamma.vector(), dx, dalpha, dgamma, dbeta},
        context());
  }
  static at::Tensor composite(const AlphaInputs& in, const RowForm& /*form*/) {
    at::Tensor y = at::tanh(wide_input(in.x).mul(in.alpha.reshape({})));
    if (in.gamma.defined()) y = y.mul(in.gamma);
    if (in.beta.defined()) y = y.add(in.beta);
    return y.to(in.x.scalar_type());
  }
};

struct BlendedNormOperator {
  static constexpr const char* kName = "blended_norm";

  static Status forward(const AlphaViews& in, const RowForm& form, const Rows& y) {
    return blended_norm_forward(
        {form, in.x.rows(), in.alpha.vector(), in.gamma.vector(), in.beta.vector(), y}, context());
  }
  static Status backward(const ConstRows& dy, const AlphaViews& in, const RowForm& form,
                         const Rows& dx, const Vector& dalpha, const Vector& dgamma,
                         const Vector& dbeta) {
    return blended_norm_backward({form, dy, in.x.rows(), in.alpha.vector(), in.gamma.vector(),
                                  in.beta.vector(), dx, dalpha, dgamma, dbeta},
                                 context());
  }
  static at::Tensor composite(const AlphaInputs& in, const RowForm& form) {
    const at::Tensor x = wide_input(in.x);
    const at::Tensor norm = row_norm_composite(x, form, in.gamma, in.beta);
    return at::lerp(x, norm, in.alpha.reshape({}).to(x.scalar_type())).to(in.x.scalar_type());
  }
};

template <class Operator>
at::Tensor alpha_norm_run(const AlphaInputs& in, const RowForm& form) {
  const RowShape shape = row_shape(in.x.sizes(), 1);
  at::Tensor y = at::empty(in.x.sizes(), in.x.options());
  check_status(Operator::kName,
               Operator::forward(AlphaViews(in, shape), form, output_rows(y, shape)));
  return y;
}

template <class Operator>
struct AlphaNormFunction : ::torch::autograd::Function<AlphaNormFunction<Operator>> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& alpha,
                            const std::optional<at::Tensor>& gamma,
                            const std::optional<at::Tensor>& beta, const RowForm& form) {
    const AlphaInputs in{x, alpha, gamma.value_or(at::Tensor()), beta.value_or(at::Tensor())};
    ctx->set_materialize_grads(false);
    ctx->saved_data["form"] = numbers_of(form);
    ctx->save_for_backward({in.x, in.alpha, in.gamma, in.beta});
    return alpha_norm_run<Operator>(in, form);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const at::Tensor& dy = gradients[0];
    if (!dy.defined()) return variable_list(5);
    const auto saved = ctx->get_saved_variables();
    const AlphaInputs in{saved[0], saved[1], saved[2], saved[3]};
    const RowForm form = form_of(ctx->saved_data["form"].toDoubleVector());
    const RowShape shape = row_shape(in.x.sizes(), 1);
    WantedGradients wanted(*ctx);
    const at::Tensor dx = wanted.next(in.x);
    const at::Tensor dalpha = wanted.next(in.alpha);
    const at::Tensor dgamma = wanted.next(in.gamma);
    const at::Tensor dbeta = wanted.next(in.beta);
    const RowView dy_view(dy, shape);
    check_status(
        Operator::kName,
        Operator::backward(dy_view.rows(), AlphaViews(in, shape), form, output_rows(dx, shape),
                           output_vector(dalpha, 1), output_vector(dgamma, shape.cols),
                           output_vector(dbeta, shape.cols)));
    return differentiable({dx, dalpha, dgamma, dbeta, at::Tensor()}, dy,
                          {in.x, in.alpha, in.gamma, in.beta}, [form](const variable_list& t) {
                            return Operator::composite({t[0], t[1], t[2], t[3]}, form);
                          });
  }
};

/// Checks and runs one call.
template <class Operator>
at::Tensor alpha_norm(const AlphaInputs& in, const RowForm& form) {
  constexpr const char* kName = Operator::kName;
  TORCH_CHECK(in.x.defined() && in.x.dim() >= 1, "equinorm::torch::", kName,
              ": x must be a tensor of at least one axis");
  const at::IntArrayRef last = in.x.sizes().slice(in.x.dim() - 1);
  check_input(kName, in.x, last, form.eps);
  TORCH_CHECK(in.alpha.defined() && in.alpha.numel() == 1, "equinorm::torch::", kName,
              ": alpha must be a tensor of one element");
  check_parameter(kName, "alpha", in.alpha, in.x, in.alpha.sizes());
  check_parameter(kName, "gamma", in.gamma, in.x, last);
  check_parameter(kName, "beta", in.beta, in.x, last);
  if (!in.x.is_cpu()) return Operator::composite(in, form);
  if (needs_graph(in.x, in.alpha, in.gamma, in.beta)) {
    return AlphaNormFunction<Operator>::apply(in.x, in.alpha, as_optional(in.gamma),
                                              as_optional(in.beta), form);
  }
  return alpha_norm_run<Operator>(in, form);
}

}  // namespace equinorm::torch::detail
