// Choices of a RunConfig about norms that are not part of the model: the start of the gains, gains
// and biases that do not learn or are taken away. Also the names that such fields may hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/models/parameters.hpp"
#include "lab/run_config.hpp"

namespace equinorm::lab {

inline const std::vector<std::string> kDropoutPlaces = {"branch", "norm_input", "norm_output"};
inline const std::vector<std::string> kPlacementParts = {"all", "residual", "weights"};
inline const std::vector<std::string> kGainStarts = {"usual", "zero", "half", "uniform", "normal"};
inline const std::vector<std::string> kAffineChoices = {"learned", "frozen", "removed"};
inline const std::vector<std::string> kNormKernels = {"fused", "composed"};
inline const std::vector<std::string> kPrecisions = {"fp32", "bf16_autocast", "bf16",
                                                     "fp16", "bf16_storage",  "fp16_storage"};

/// Whether a parameter is a gain of a norm, by its name.
[[nodiscard]] bool is_gain(const Parameter& parameter);
/// Whether it is the alpha of a norm that has one.
[[nodiscard]] bool is_norm_alpha(const Parameter& parameter);

/// Before training: sets the gains, and freezes gains and biases where they shall not learn.
void apply_norm_choices(const RunConfig& config, const std::vector<Parameter>& parameters);

/// After training: gains 1 and biases 0 where config.affine is "removed".
void remove_affine(const RunConfig& config, const std::vector<Parameter>& parameters);

}  // namespace equinorm::lab
