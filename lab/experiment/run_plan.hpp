// From what the user asks for to the list of runs, in the order in which they are started.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/experiment/run_store.hpp"
#include "lab/run_config.hpp"

namespace equinorm::lab {

/// The axes of a comparison. `tasks` hold one config per task with the settings that all its runs
/// share; norm, placement, learning rate and seed are filled in by plan_runs.
struct ComparePlan {
  std::vector<RunConfig> tasks;
  std::vector<Arm> arms;
  std::vector<double> learning_rates;
  std::vector<std::uint64_t> seeds;
};

/// norms x placements, in the order given, each arm once.
[[nodiscard]] std::vector<Arm> plan_arms(const std::vector<std::string>& norms,
                                         const std::vector<std::string>& placements);

/// The arm that others are compared with: layer-pre where it takes part, otherwise the first.
[[nodiscard]] std::string choose_baseline(const std::vector<Arm>& arms);

/// All runs: seed by seed, within a seed rate by rate, within a rate task by task and arm by arm,
/// so that a comparison cut short has whole seeds of every arm.
[[nodiscard]] std::vector<RunConfig> plan_runs(const ComparePlan& plan);

}  // namespace equinorm::lab
