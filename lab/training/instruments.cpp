// Per-layer instruments. Norms of several tensors combine as the root of the sum of squares.
#include "lab/training/instruments.hpp"

#include <ATen/core/grad_mode.h>

#include <cmath>
#include <optional>

namespace equinorm::lab {
namespace {

// In f64, so that large activations can't overflow their squares.
double root_mean_square(const at::Tensor& x) {
  const at::NoGradGuard no_grad;
  return std::sqrt(x.detach().to(at::kDouble).square().mean().item<double>());
}

// The norm over all parameters that `matches` selects; null where there is none.
template <class Matches>
nlohmann::ordered_json combined(const std::vector<Parameter>& parameters,
                                const GradientNorms& norms, Matches&& matches) {
  std::optional<double> squares;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!matches(parameters[i])) continue;
    squares = squares.value_or(0) + norms.per_parameter[i] * norms.per_parameter[i];
  }
  return squares ? nlohmann::ordered_json(std::sqrt(*squares)) : nlohmann::ordered_json(nullptr);
}

}  // namespace

ActivationProbe::ActivationProbe(int depth)
    : rms_(static_cast<std::size_t>(depth)),
      max_(static_cast<std::size_t>(depth)),
      branch_ratio_(static_cast<std::size_t>(depth)) {}

void ActivationProbe::saw_branch(int layer, const at::Tensor& branch, const at::Tensor& stream) {
  branch_ratio_[static_cast<std::size_t>(layer)] +=
      0.5 * root_mean_square(branch) / root_mean_square(stream);
}

void ActivationProbe::saw_layer(int layer, const at::Tensor& stream) {
  rms_[static_cast<std::size_t>(layer)] = root_mean_square(stream);
  max_[static_cast<std::size_t>(layer)] = stream.detach().abs().max().item<double>();
}

nlohmann::ordered_json gradient_norms_by_layer(const std::vector<Parameter>& parameters,
                                               const GradientNorms& norms, int depth) {
  const auto by_kind = [&](ParameterKind kind, int layer) {
    return combined(parameters, norms, [=](const Parameter& parameter) {
      return parameter.kind == kind && parameter.layer == layer;
    });
  };
  nlohmann::ordered_json json;
  json["embedding"] = by_kind(ParameterKind::embedding, -1);
  json["layers"] = nlohmann::ordered_json::array();
  for (int i = 0; i < depth; ++i) {
    nlohmann::ordered_json layer;
    layer["qkv"] = by_kind(ParameterKind::qkv, i);
    layer["out"] = by_kind(ParameterKind::out, i);
    layer["fc1"] = by_kind(ParameterKind::fc1, i);
    layer["fc2"] = by_kind(ParameterKind::fc2, i);
    layer["gamma"] = by_kind(ParameterKind::gamma, i);
    layer["beta"] = by_kind(ParameterKind::beta, i);
    layer["total"] = combined(parameters, norms,
                              [=](const Parameter& parameter) { return parameter.layer == i; });
    json["layers"].push_back(std::move(layer));
  }
  json["final_norm"] = by_kind(ParameterKind::final_norm, -1);
  json["head"] = by_kind(ParameterKind::head, -1);
  return json;
}

}  // namespace equinorm::lab
