// Residual connections by placement, and the profiling step of Admin.
#include "lab/models/residual_connection.hpp"

#include <ATen/core/grad_mode.h>

#include <cmath>

namespace equinorm::lab {
namespace {

// Over all elements of the rows that hold real tokens, divided by their number.
double variance_of(const at::Tensor& x, const ForwardContext& context) {
  const at::Tensor rows = context.real_rows.defined() ? x.index_select(0, context.real_rows) : x;
  return rows.to(at::kDouble).var(false).item<double>();
}

}  // namespace

ResidualConnection::ResidualConnection(const LayerOptions& options, const LayerPlace& place,
                                       const std::string& suffix, Part part,
                                       ParameterStore& parameters)
    : layer_(place.layer),
      part_(part),
      dropout_(options.dropout_place == "branch" ? options.dropout : 0),
      input_dropout_(options.dropout_place == "norm_input" ? options.dropout : 0),
      output_dropout_(options.dropout_place == "norm_output" ? options.dropout : 0),
      alpha_(options.constants.residual) {
  const Placement& placement = *options.placement;
  const auto norm = [&](const std::string& which) {
    const std::string name = place.prefix + ".norm" + suffix + which;
    return make_norm(options.norm_name(), options.norm_place(name, place.layer, options.width),
                     parameters);
  };
  if (placement.norm_before) norm_before_ = norm("");
  if (placement.norm_sum) norm_sum_ = norm(placement.norm_before ? "_sum" : "");
  if (placement.norm_branch == BranchNorm::every ||
      (placement.norm_branch == BranchNorm::attention && part == Part::attention)) {
    norm_branch_ = norm("_branch");
  }
  if (placement.residual_scale == ResidualScale::profiled) {
    omega_ = parameters.constant(
        {place.prefix + ".omega" + suffix, ParameterKind::residual, place.layer}, {options.width},
        1);
  } else if (placement.residual_scale == ResidualScale::gated) {
    gate_ = parameters.constant(
        {place.prefix + ".gate" + suffix, ParameterKind::residual, place.layer}, {1}, 0);
  }
}

at::Tensor ResidualConnection::normalized(const std::unique_ptr<NormLayer>& norm,
                                          const at::Tensor& x,
                                          const ForwardContext& context) const {
  if (!norm) return x;
  const at::Tensor y = normalize(norm, dropout(x, input_dropout_, context), context);
  return dropout(y, output_dropout_, context);
}

at::Tensor ResidualConnection::scaled_stream(const at::Tensor& x,
                                             const ForwardContext& context) const {
  if (omega_.defined()) {
    if (context.profile != nullptr) {
      const at::NoGradGuard no_grad;
      omega_.detach().fill_(std::sqrt(context.profile->variance));
    }
    return x * omega_;
  }
  return alpha_ == 1 ? x : x * alpha_;
}

at::Tensor ResidualConnection::forward(const at::Tensor& x, const Function& function,
                                       const ForwardContext& context,
                                       const at::Tensor& layer_input) const {
  const at::Tensor input = normalized(norm_before_, x, context);
  if (context.observer != nullptr) context.observer->saw_input(layer_, input);
  at::Tensor branch = stored(function(input));
  branch = normalize(norm_branch_, branch, context);
  {
    const Section section(context, part_);
    branch = dropout(branch, dropout_, context);
    if (gate_.defined()) branch = branch * gate_;
  }
  const at::Tensor stream = scaled_stream(x, context);
  if (omega_.defined() && context.profile != nullptr) {
    context.profile->variance = variance_of(stream, context) + variance_of(branch, context);
  }
  if (context.observer != nullptr) context.observer->saw_branch(layer_, branch, stream);
  at::Tensor sum = stream + branch;
  if (layer_input.defined()) sum = sum + layer_input;
  return normalized(norm_sum_, stored(sum), context);
}

}  // namespace equinorm::lab
