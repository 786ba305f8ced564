#include "lab/experiment/run_plan.hpp"

#include <algorithm>

namespace equinorm::lab {

std::vector<Arm> plan_arms(const std::vector<std::string>& norms,
                           const std::vector<std::string>& placements) {
  std::vector<Arm> arms;
  for (const std::string& norm : norms) {
    for (const std::string& placement : placements) {
      const Arm arm = make_arm(norm, placement);
      if (std::find(arms.begin(), arms.end(), arm) == arms.end()) arms.push_back(arm);
    }
  }
  return arms;
}

std::string choose_baseline(const std::vector<Arm>& arms) {
  const Arm preferred{"layer", "pre"};
  const bool takes_part = std::find(arms.begin(), arms.end(), preferred) != arms.end();
  return takes_part ? preferred.name() : arms.at(0).name();
}

std::vector<RunConfig> plan_runs(const ComparePlan& plan) {
  std::vector<RunConfig> runs;
  for (const std::uint64_t seed : plan.seeds) {
    for (const double learning_rate : plan.learning_rates) {
      for (RunConfig run : plan.tasks) {
        for (const Arm& arm : plan.arms) {
          run.norm = arm.norm;
          run.placement = arm.placement;
          run.learning_rate = learning_rate;
          run.seed = seed;
          runs.push_back(run);
        }
      }
    }
  }
  return runs;
}

}  // namespace equinorm::lab
