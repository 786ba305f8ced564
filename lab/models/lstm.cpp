// The named LSTM forms, their parameters and their initial values.
#include "lab/models/lstm.hpp"

#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

using Kind = StepNorm::Kind;

constexpr double kBatchGain = 0.1;

constexpr LstmForm kForms[] = {
    {.name = "none"},
    {.name = "ba2016", .input = Kind::rows, .hidden = Kind::rows, .cell = Kind::rows},
    {.name = "carry_normalized",
     .input = Kind::rows,
     .hidden = Kind::rows,
     .cell = Kind::rows,
     .carry_normalized = true},
    {.name = "per_gate", .gates = Kind::gates, .cell = Kind::rows, .carry_normalized = true},
    {.name = "output_only", .cell = Kind::rows},
    {.name = "input_only", .input = Kind::rows},
    {.name = "batch_per_step",
     .input = Kind::columns,
     .hidden = Kind::columns,
     .cell = Kind::columns},
};

const LstmForm& form_named(const std::string& name) {
  std::string names;
  for (const LstmForm& form : kForms) {
    if (name == form.name) return form;
    names += (names.empty() ? "" : ", ") + std::string(form.name);
  }
  throw UsageError("norm = '" + name + "': must be one of " + names);
}

StepAverages make_averages_of(std::int64_t steps, std::int64_t size, at::ScalarType dtype) {
  return {at::zeros({steps, size}, dtype), at::ones({steps, size}, dtype)};
}

}  // namespace

std::vector<std::string> lstm_norm_names() {
  std::vector<std::string> names;
  for (const LstmForm& form : kForms) names.emplace_back(form.name);
  return names;
}

Lstm::Lstm(const std::string& prefix, int layer, const LstmOptions& options,
           ParameterStore& parameters)
    : width_(options.width) {
  settings_.form = form_named(options.norm);
  settings_.eps = options.eps;
  const auto width = static_cast<double>(width_);
  // Four matrices in one each, hence the fans of one of them.
  input_weight_ = parameters.xavier({prefix + ".input.weight", ParameterKind::fc1, layer},
                                    {4 * width_, options.features},
                                    static_cast<double>(options.features), width);
  tensors_.weight = parameters.xavier({prefix + ".hidden.weight", ParameterKind::fc2, layer},
                                      {4 * width_, width_}, width, width);
  tensors_.bias =
      parameters.constant({prefix + ".bias", ParameterKind::fc1, layer}, {4 * width_}, 0);
  tensors_.bias.detach().slice(0, 0, width_).fill_(options.forget_bias);
  const bool batch = settings_.form.cell == Kind::columns;
  make_norms(prefix, layer, options.initial_gain.value_or(batch ? kBatchGain : 1), parameters);
  if (batch) make_averages(options, parameters.dtype());
}

void Lstm::make_norms(const std::string& prefix, int layer, double gain,
                      ParameterStore& parameters) {
  const auto gamma = [&](Kind kind, const char* name, std::int64_t size) -> at::Tensor {
    if (kind == Kind::none) return {};
    return parameters.constant({prefix + name, ParameterKind::gamma, layer}, {size}, gain);
  };
  const LstmForm& form = settings_.form;
  tensors_.input_gamma = gamma(form.input, ".input_norm.gamma", 4 * width_);
  tensors_.hidden_gamma = gamma(form.hidden, ".hidden_norm.gamma", 4 * width_);
  tensors_.gates_gamma = gamma(form.gates, ".gates_norm.gamma", 4 * width_);
  tensors_.cell_gamma = gamma(form.cell, ".cell_norm.gamma", width_);
  if (form.cell != Kind::none) {
    tensors_.cell_beta =
        parameters.constant({prefix + ".cell_norm.beta", ParameterKind::beta, layer}, {width_}, 0);
  }
}

void Lstm::make_averages(const LstmOptions& options, at::ScalarType dtype) {
  if (options.averaged_steps < 1) throw UsageError("averaged_steps: must be at least 1");
  settings_.input_averages = make_averages_of(options.averaged_steps, 4 * width_, dtype);
  settings_.hidden_averages = make_averages_of(options.averaged_steps, 4 * width_, dtype);
  settings_.cell_averages = make_averages_of(options.averaged_steps, width_, dtype);
}

LstmOutput Lstm::forward(const at::Tensor& x, const Extra& extra) const {
  LstmTensors tensors = tensors_;
  tensors.projected = at::linear(x, input_weight_);
  const auto state = [&](const at::Tensor& given) {
    return given.defined() ? given : at::zeros({x.size(1), width_}, x.options());
  };
  tensors.hidden = state(extra.hidden);
  tensors.cell = state(extra.cell);
  LstmSettings settings = settings_;
  settings.training = extra.training;
  settings.mask = extra.mask;
  return lstm_sequence(tensors, settings);
}

}  // namespace equinorm::lab
