// From a declaration and a tier to the runs that it asks for.
//
// The one trap: equal runs of different arms or experiments are one run with one directory; what a
// run belongs to is in the plan alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/evidence/declaration.hpp"
#include "lab/evidence/measurement.hpp"
#include "lab/experiment/job.hpp"
#include "lab/run_config.hpp"

namespace equinorm::lab {

/// What runs are made of, given from outside so that plans and reports need no LibTorch.
struct RunKinds {
  /// Throws UsageError "field = value: rule" for a config that cannot be trained.
  std::function<void(const RunConfig&)> check_training;
  std::vector<Measurement> measurements;
};

/// What was asked for at the command line, and what of it depends on the machine: the data.
struct LabRequest {
  std::string tier = "quick";
  std::optional<int> seeds;
  std::map<std::string, std::string> source_sha256;  ///< by PlannedRun::source_key
};

struct PlannedRun {
  std::string arm;
  Point point;
  double learning_rate = 0;  ///< 0 for a measurement
  std::uint64_t seed = 0;
  Job job;
  std::optional<RunConfig> config;  ///< of a training run
  std::string source_key;           ///< of a training run: its task, and its source as declared
  bool shortened = false;           ///< to so few steps that it cannot leave its plateau
};

/// Every combination of their values.
[[nodiscard]] std::vector<Point> points_of(const std::vector<Axis>& axes);

/// Seed by seed, so that an experiment cut short has whole seeds of every arm. Throws InputError
/// naming file and line for fields and values that a run does not take.
[[nodiscard]] std::vector<PlannedRun> plan_experiment(const Declaration& declaration,
                                                      const LabRequest& request,
                                                      const RunKinds& kinds);

/// One run for each source_key of its training runs, to be resolved before it is planned.
[[nodiscard]] std::map<std::string, RunConfig> tasks_of(const Declaration& declaration,
                                                        const LabRequest& request,
                                                        const RunKinds& kinds);

/// The same run with 4 times the steps: what has to fail too before "cannot train" is said.
[[nodiscard]] PlannedRun longer_run(const PlannedRun& run);

/// True for the runs of shard `index` (from 1) of `count`; every run is in exactly one.
[[nodiscard]] bool is_in_shard(const std::string& run_id, int index, int count);

}  // namespace equinorm::lab
