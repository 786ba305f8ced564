// What the parameters of a layer show of a step: gradient norms by kind, updates against weights,
// how far the gains have moved, the alphas.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "lab/models/parameters.hpp"
#include "lab/training/optimizer.hpp"

namespace equinorm::lab {

/// The "grad_norm" object of a "layers" event; kinds that the model lacks are null.
nlohmann::ordered_json gradient_norms_by_layer(const std::vector<Parameter>& parameters,
                                               const GradientNorms& norms, int depth);

/// The values of all parameters as they are now.
std::vector<at::Tensor> copy_values(const std::vector<Parameter>& parameters);

/// The "update_ratio" object: |theta - before| / |theta before| of the same kinds and of all
/// parameters, `before` from copy_values. null also where the weights were zero.
nlohmann::ordered_json update_ratios_by_layer(const std::vector<Parameter>& parameters,
                                              const std::vector<at::Tensor>& before, int depth);

/// Root mean square of gamma - its start over the gains of each layer, `start` from copy_values;
/// NaN for a layer without.
std::vector<double> gamma_drift(const std::vector<Parameter>& parameters,
                                const std::vector<at::Tensor>& start, int depth);

/// Mean of the alphas of each layer's norms (BlendedLayerNorm, DyT); NaN for a layer without.
std::vector<double> norm_alphas(const std::vector<Parameter>& parameters, int depth);

}  // namespace equinorm::lab
