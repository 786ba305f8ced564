// The core's fused operator for autograd, and its 8-bit outputs as tensors.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "equinorm/fused_norm.hpp"
#include "equinorm/torch/context.hpp"
#include "equinorm/torch/detail/arguments.hpp"
#include "equinorm/torch/detail/autograd.hpp"
#include "equinorm/torch/detail/row_norm_function.hpp"
#include "equinorm/torch/detail/row_view.hpp"

namespace equinorm::torch {

/// Tensors of residual_norm; all but x may be undefined.
struct ResidualNormInputs {
  at::Tensor x;
  at::Tensor residual{};
  at::Tensor gamma{};
  at::Tensor beta{};
  at::Tensor gate{};
  at::Tensor shift{};
  at::Tensor scale{};
};

struct ResidualNormOptions {
  RowForm form{};
  double p = 0;  ///< of dropout, in [0, 1]; 0 outside training
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
  std::optional<at::ScalarType> stream_type{};  ///< of h; x's where not given
};

namespace detail {

/// gate, shift and scale as rows of groups.
class GroupView {
 public:
  GroupView(const at::Tensor& tensor, std::int64_t groups, std::int64_t cols) {
    if (tensor.defined()) view_.emplace(tensor, RowShape{1, groups, cols});
  }
  [[nodiscard]] ConstRows rows() const { return view_ ? view_->rows() : ConstRows{}; }

 private:
  std::optional<RowView> view_;
};

/// What a call's tensors say about its rows.
struct ResidualShape {
  RowShape rows;
  std::int64_t groups = 1;

  ResidualShape(const ResidualNormInputs& in) : rows(row_shape(in.x.sizes(), 1)) {
    for (const at::Tensor* t : {&in.gate, &in.shift, &in.scale}) {
      if (t->defined()) groups = rows.cols > 0 ? t->numel() / rows.cols : rows.rows;
    }
  }
  [[nodiscard]] std::int64_t each() const { return groups > 0 ? rows.rows / groups : 1; }
};

inline Dropout dropout_of(const ResidualNormOptions& options) {
  return {options.p, options.seed, options.offset};
}

/// The tensors of a call as the core sees them.
struct ResidualViews {
  ParameterView gamma, beta;
  GroupView gate, shift, scale;
  std::int64_t each;

  ResidualViews(const ResidualNormInputs& in, const ResidualShape& shape)
      : gamma(in.gamma, shape.rows.cols),
        beta(in.beta, shape.rows.cols),
        gate(in.gate, shape.groups, shape.rows.cols),
        shift(in.shift, shape.groups, shape.rows.cols),
        scale(in.scale, shape.groups, shape.rows.cols),
        each(std::max<std::int64_t>(shape.each(), 1)) {}

  [[nodiscard]] FusedParameters parameters() const {
    return {gamma.vector(), beta.vector(), each, scale.rows(), shift.rows(), gate.rows()};
  }
};

inline std::pair<at::Tensor, at::Tensor> residual_norm_run(const ResidualNormInputs& in,
                                                           const ResidualNormOptions& options) {
  const ResidualShape shape(in);
  const at::ScalarType type = options.stream_type.value_or(in.x.scalar_type());
  at::Tensor y = at::empty(in.x.sizes(), in.x.options());
  at::Tensor h = at::empty(in.x.sizes(), in.x.options().dtype(type));
  const ResidualViews views(in, shape);
  const RowView x(in.x, shape.rows);
  std::optional<RowView> residual;
  if (in.residual.defined()) residual.emplace(in.residual, shape.rows);
  FusedNormForward args;
  args.form = options.form;
  args.x = x.rows();
  if (residual) args.residual = residual->rows();
  args.dropout = dropout_of(options);
  args.parameters = views.parameters();
  args.stream = output_rows(h, shape.rows);
  args.y = output_rows(y, shape.rows);
  check_status("residual_norm", fused_norm_forward(args, context()));
  return {y, h};
}

struct ResidualNormFunction : ::torch::autograd::Function<ResidualNormFunction> {
  static constexpr std::size_t kTensors = 7;

  static variable_list forward(
      AutogradContext* ctx, const at::Tensor& x, const std::optional<at::Tensor>& residual,
      const std::optional<at::Tensor>& gamma, const std::optional<at::Tensor>& beta,
      const std::optional<at::Tensor>& gate, const std::optional<at::Tensor>& shift,
      const std::optional<at::Tensor>& scale, const ResidualNormOptions& options) {
    const auto value = [](const std::optional<at::Tensor>& t) { return t.value_or(at::Tensor()); };
    const ResidualNormInputs in{x,           value(residual), value(gamma), value(beta),
                                value(gate), value(shift),    value(scale)};
    const auto [y, h] = residual_norm_run(in, options);
    ctx->set_materialize_grads(false);
    ctx->saved_data["form"] = numbers_of(options.form);
    ctx->saved_data["x_type"] = x.scalar_type();
    ctx->saved_data["p"] = options.p;
    ctx->saved_data["seed"] = static_cast<std::int64_t>(options.seed);
    ctx->saved_data["offset"] = static_cast<std::int64_t>(options.offset);
    const at::Tensor branch = in.gate.defined() ? in.x : at::Tensor();
    ctx->save_for_backward(
        {h, branch, in.residual, in.gamma, in.beta, in.gate, in.shift, in.scale});
    return {y, h};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    TORCH_CHECK(!at::GradMode::is_enabled(),
                "equinorm::torch::residual_norm: second derivatives are not available: write the "
                "residual add and the norm one after the other");
    if (!gradients[0].defined() && !gradients[1].defined()) return variable_list(kTensors + 1);
    const auto saved = ctx->get_saved_variables();
    const at::Tensor& h = saved[0];
    ResidualNormInputs in{saved[1], saved[2], saved[3], saved[4], saved[5], saved[6], saved[7]};
    // The shape of x is that of h, where x was not kept.
    if (!in.x.defined()) in.x = h;
    const ResidualShape shape(in);
    const std::int64_t cols = shape.rows.cols;
    WantedGradients wanted(*ctx);
    const auto x_type = ctx->saved_data["x_type"].toScalarType();
    const at::Tensor dx =
        wanted.wants(h) ? at::empty(h.sizes(), h.options().dtype(x_type)) : at::Tensor();
    at::Tensor dresidual = wanted.next(in.residual);
    const bool plain = !in.gate.defined() && ctx->saved_data["p"].toDouble() == 0;
    if (dresidual.defined() && dx.defined() && plain && dresidual.scalar_type() == x_type) {
      dresidual = dx;  // neither gate nor dropout tells them apart
    }
    const at::Tensor dgamma = wanted.next(in.gamma);
    const at::Tensor dbeta = wanted.next(in.beta);
    const at::Tensor dgate = wanted.next(in.gate);
    const at::Tensor dshift = wanted.next(in.shift);
    const at::Tensor dscale = wanted.next(in.scale);
    const at::Tensor dy = gradients[0].defined() ? gradients[0] : at::zeros_like(h);
    const ResidualViews views(in, shape);
    const RowView dy_view(dy, shape.rows), h_view(h, shape.rows);
    std::optional<RowView> dh, branch;
    if (gradients[1].defined()) dh.emplace(gradients[1], shape.rows);
    if (saved[1].defined()) branch.emplace(saved[1], shape.rows);
    const auto groups = [&](const at::Tensor& t) {
      if (!t.defined()) return Rows{};
      return Rows{t.mutable_data_ptr(), *dtype_of(t.scalar_type()), shape.groups, cols, cols};
    };
    FusedNormBackward args;
    args.form = form_of(ctx->saved_data["form"].toDoubleVector());
    args.dy = dy_view.rows();
    if (dh) args.dstream = dh->rows();
    args.stream = h_view.rows();
    if (branch) args.x = branch->rows();
    args.dropout = {ctx->saved_data["p"].toDouble(),
                    static_cast<std::uint64_t>(ctx->saved_data["seed"].toInt()),
                    static_cast<std::uint64_t>(ctx->saved_data["offset"].toInt())};
    args.parameters = views.parameters();
    args.dx = output_rows(dx, shape.rows);
    if (!dresidual.is_same(dx)) args.dresidual = output_rows(dresidual, shape.rows);
    args.dgamma = output_vector(dgamma, cols);
    args.dbeta = output_vector(dbeta, cols);
    args.dgate = groups(dgate);
    args.dshift = groups(dshift);
    args.dscale = groups(dscale);
    check_status("residual_norm", fused_norm_backward(args, context()));
    return {dx, dresidual, dgamma, dbeta, dgate, dshift, dscale, at::Tensor()};
  }
};

inline void check_residual_inputs(const ResidualNormInputs& in,
                                  const ResidualNormOptions& options) {
  constexpr const char* kName = "residual_norm";
  TORCH_CHECK(in.x.defined() && in.x.dim() >= 1, "equinorm::torch::", kName,
              ": x must be a tensor of at least one axis");
  TORCH_CHECK(in.x.is_cpu(), "equinorm::torch::", kName, ": x.device = ", in.x.device(),
              ": must be cpu");
  const at::IntArrayRef last = in.x.sizes().slice(in.x.dim() - 1);
  check_input(kName, in.x, last, options.form.eps);
  TORCH_CHECK(options.p >= 0 && options.p <= 1, "equinorm::torch::", kName, ": p = ", options.p,
              ": must be at least 0 and at most 1");
  if (in.residual.defined()) {
    check_tensor(kName, "residual", in.residual);
    TORCH_CHECK(in.residual.sizes() == in.x.sizes(), "equinorm::torch::", kName,
                ": residual.shape = ", in.residual.sizes(),
                ": must equal x.shape = ", in.x.sizes());
  }
  check_parameter(kName, "gamma", in.gamma, in.x, last);
  check_parameter(kName, "beta", in.beta, in.x, last);
  const std::vector<std::int64_t> of_samples = {in.x.size(0), last[0]};
  const bool by_token = [&] {
    for (const at::Tensor* t : {&in.gate, &in.shift, &in.scale}) {
      if (t->defined()) return in.x.dim() <= 2 || t->dim() == in.x.dim();
    }
    return true;
  }();
  const at::IntArrayRef shape = by_token ? in.x.sizes() : at::IntArrayRef(of_samples);
  check_parameter(kName, "gate", in.gate, in.x, shape);
  check_parameter(kName, "shift", in.shift, in.x, shape);
  check_parameter(kName, "scale", in.scale, in.x, shape);
}

inline std::pair<at::Tensor, at::Tensor> residual_norm(const ResidualNormInputs& in,
                                                       const ResidualNormOptions& options) {
  check_residual_inputs(in, options);
  if (!needs_graph(in.x, in.residual, in.gamma, in.beta, in.gate, in.shift, in.scale)) {
    return residual_norm_run(in, options);
  }
  const auto both = ResidualNormFunction::apply(
      in.x, as_optional(in.residual), as_optional(in.gamma), as_optional(in.beta),
      as_optional(in.gate), as_optional(in.shift), as_optional(in.scale), options);
  return {both[0], both[1]};
}

inline std::pair<at::Tensor, at::Tensor> quantized_norm(const at::Tensor& x, Quantization kind,
                                                        const RowForm& form,
                                                        const at::Tensor& gamma,
                                                        const at::Tensor& beta,
                                                        double fixed_scale) {
  constexpr const char* kName = "quantized_norm";
  check_residual_inputs({x, {}, gamma, beta, {}, {}, {}}, {.form = form});
  TORCH_CHECK(!needs_graph(x, gamma, beta), "equinorm::torch::", kName,
              ": not differentiable: detach its tensors, or use at::NoGradGuard");
  const RowShape shape = row_shape(x.sizes(), 1);
  const bool fp8 = kind == Quantization::fp8_e4m3_per_row;
  at::Tensor numbers =
      at::empty(x.sizes(), x.options().dtype(fp8 ? at::kFloat8_e4m3fn : at::kChar));
  const auto wide = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const bool fixed = kind == Quantization::int8_fixed;
  at::Tensor scale = fixed ? at::full({}, fixed_scale, x.options().dtype(wide))
                           : at::empty(x.sizes().slice(0, x.dim() - 1), x.options().dtype(wide));
  const RowView view(x, shape);
  const ParameterView gamma_view(gamma, shape.cols), beta_view(beta, shape.cols);
  FusedNormForward args;
  args.form = form;
  args.x = view.rows();
  args.parameters.gamma = gamma_view.vector();
  args.parameters.beta = beta_view.vector();
  args.quantized = {numbers.mutable_data_ptr(),
                    kind,
                    shape.rows,
                    shape.cols,
                    shape.cols,
                    fixed ? Vector{} : output_vector(scale, shape.rows),
                    fixed_scale};
  check_status(kName, fused_norm_forward(args, context()));
  return {numbers, scale};
}

}  // namespace detail
}  // namespace equinorm::torch
