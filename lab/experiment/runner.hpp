// Runs a plan: a child process per run, several side by side, resumable at any moment.
//
// A run counts as done only with a result.json that the child wrote last and atomically and a
// config.json that matches; anything else under its directory is thrown away and started over.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "lab/experiment/job.hpp"
#include "lab/experiment/progress.hpp"
#include "lab/experiment/run_store.hpp"
#include "lab/run_config.hpp"

namespace equinorm::lab {

struct RunnerSettings {
  std::filesystem::path out_dir;
  /// What a child process does: the run that config.json in the directory describes. It prints
  /// "STEPS LOSS" lines, and returns 0 once result.json is there, or an exit code.
  std::function<int(const std::filesystem::path& run_dir)> do_run;
  int jobs = 1;
  std::function<void(const Progress&)> on_progress;
};

/// True when the directory holds the finished result of exactly this job.
using IsFinished = std::function<bool(const Job& job, const std::filesystem::path& run_dir)>;

struct JobsOutcome {
  int resumed = 0;   ///< were done before
  int finished = 0;  ///< done by this call
  /// error.json in the run directory says the same where the disk took it.
  std::vector<Crash> crashes;
  bool interrupted = false;
};

struct RunnerOutcome {
  int resumed = 0;   ///< were done before
  int finished = 0;  ///< done by this call
  /// Crashed. error.json in the run directory says the same where the disk took it.
  std::vector<RunError> errors;
  bool interrupted = false;
};

[[nodiscard]] std::filesystem::path run_directory(const std::filesystem::path& out_dir,
                                                  const RunConfig& config);

/// True when `run_dir` holds a finished run of exactly this config that loads without error.
[[nodiscard]] bool is_finished_run_of(const RunConfig& config,
                                      const std::filesystem::path& run_dir);

/// Runs those jobs that are not yet done. `interrupts` counts requests to stop: at 1 the children
/// are asked to (SIGTERM), at 2 they are killed; runs that were under way leave nothing behind. A
/// run that cannot be started, as on a full disk, counts as crashed. Throws InputError when an
/// interrupted run cannot be removed.
JobsOutcome execute_jobs(const std::vector<Job>& jobs, const RunnerSettings& settings,
                         const IsFinished& is_finished, const std::atomic<int>& interrupts);

/// The job of one training run.
[[nodiscard]] Job training_job(const RunConfig& config);

/// execute_jobs for training runs.
RunnerOutcome execute_runs(const std::vector<RunConfig>& plan, const RunnerSettings& settings,
                           const std::atomic<int>& interrupts);

}  // namespace equinorm::lab
