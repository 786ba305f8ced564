// Norms of several tensors combine as the root of the sum of squares.
#include "lab/training/instruments.hpp"

#include <cmath>
#include <limits>

#include "lab/training/variants.hpp"

namespace equinorm::lab {
namespace {

using Json = nlohmann::ordered_json;
using Indices = std::vector<std::size_t>;  // of parameters

double sum_of_squares(const at::Tensor& x) {
  return x.detach().to(at::kDouble).square().sum().item<double>();
}

// Which parameters `matches` selects.
template <class Matches>
Indices selected(const std::vector<Parameter>& parameters, Matches&& matches) {
  Indices indices;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (matches(parameters[i])) indices.push_back(i);
  }
  return indices;
}

// `measure` of the parameters of each kind and layer; null where there are none.
template <class Measure>
Json by_kind_and_layer(const std::vector<Parameter>& parameters, int depth, Measure&& measure) {
  const auto measured = [&](auto&& matches) {
    const Indices indices = selected(parameters, matches);
    return indices.empty() ? Json(nullptr) : Json(measure(indices));
  };
  const auto by_kind = [&](ParameterKind kind, int layer) {
    return measured([=](const Parameter& parameter) {
      return parameter.kind == kind && parameter.layer == layer;
    });
  };
  Json json;
  json["embedding"] = by_kind(ParameterKind::embedding, -1);
  json["layers"] = Json::array();
  for (int i = 0; i < depth; ++i) {
    Json layer;
    layer["qkv"] = by_kind(ParameterKind::qkv, i);
    layer["out"] = by_kind(ParameterKind::out, i);
    layer["fc1"] = by_kind(ParameterKind::fc1, i);
    layer["fc2"] = by_kind(ParameterKind::fc2, i);
    layer["gamma"] = by_kind(ParameterKind::gamma, i);
    layer["beta"] = by_kind(ParameterKind::beta, i);
    layer["total"] = measured([=](const Parameter& parameter) { return parameter.layer == i; });
    json["layers"].push_back(std::move(layer));
  }
  json["final_norm"] = by_kind(ParameterKind::final_norm, -1);
  json["head"] = by_kind(ParameterKind::head, -1);
  return json;
}

}  // namespace

Json gradient_norms_by_layer(const std::vector<Parameter>& parameters, const GradientNorms& norms,
                             int depth) {
  return by_kind_and_layer(parameters, depth, [&](const Indices& indices) {
    double squares = 0;
    for (const std::size_t i : indices) squares += norms.per_parameter[i] * norms.per_parameter[i];
    return std::sqrt(squares);
  });
}

std::vector<at::Tensor> copy_values(const std::vector<Parameter>& parameters) {
  std::vector<at::Tensor> values;
  for (const Parameter& parameter : parameters) values.push_back(parameter.value.detach().clone());
  return values;
}

Json update_ratios_by_layer(const std::vector<Parameter>& parameters,
                            const std::vector<at::Tensor>& before, int depth) {
  const auto ratio = [&](const Indices& indices) {
    double update = 0;
    double weights = 0;
    for (const std::size_t i : indices) {
      update += sum_of_squares(parameters[i].value.detach() - before[i]);
      weights += sum_of_squares(before[i]);
    }
    return std::sqrt(update) / std::sqrt(weights);
  };
  Json json = by_kind_and_layer(parameters, depth, ratio);
  json["total"] = ratio(selected(parameters, [](const Parameter&) { return true; }));
  return json;
}

std::vector<double> gamma_drift(const std::vector<Parameter>& parameters,
                                const std::vector<at::Tensor>& start, int depth) {
  std::vector<double> drift;
  for (int layer = 0; layer < depth; ++layer) {
    double squares = 0;
    double count = 0;
    for (const std::size_t i : selected(parameters, [=](const Parameter& parameter) {
           return parameter.layer == layer && is_gain(parameter);
         })) {
      squares += sum_of_squares(parameters[i].value.detach() - start[i]);
      count += static_cast<double>(start[i].numel());
    }
    drift.push_back(std::sqrt(squares / count));
  }
  return drift;
}

std::vector<double> norm_alphas(const std::vector<Parameter>& parameters, int depth) {
  std::vector<double> alphas;
  for (int layer = 0; layer < depth; ++layer) {
    const Indices found = selected(parameters, [=](const Parameter& parameter) {
      return parameter.layer == layer && is_norm_alpha(parameter);
    });
    double sum = 0;
    for (const std::size_t i : found) sum += parameters[i].value.item<double>();
    alphas.push_back(sum / static_cast<double>(found.size()));
  }
  return alphas;
}

}  // namespace equinorm::lab
