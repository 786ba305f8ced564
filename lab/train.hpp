// One training run: a RunConfig in, a run directory out (docs/runs.md). No torch header is needed
// to call it.
//
// The one trap: equal configs give equal metrics.jsonl only when nothing else decides the curve, so
// everything that does lives in RunConfig; TrainOptions holds only what does not.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lab/run_config.hpp"

namespace equinorm::lab {

/// A request to stop, set by a signal handler or another thread. Empty: never asked to stop.
class StopToken {
 public:
  StopToken() = default;
  explicit StopToken(const std::atomic<bool>& flag) : flag_(&flag) {}
  [[nodiscard]] bool stop_requested() const noexcept {
    return flag_ != nullptr && flag_->load(std::memory_order_relaxed);
  }

 private:
  const std::atomic<bool>* flag_ = nullptr;
};

/// result.json, field by field. Losses in nats.
struct RunResult {
  int steps_done = 0;
  double initial_loss = 0;  ///< evaluation before the first step
  double final_loss = 0;    ///< evaluation after the last step; NaN after a non-finite stop
  double best_loss = 0;     ///< smallest evaluation loss
  std::optional<double> final_accuracy;  ///< share of right classes or next characters
  std::optional<int> steps_to_target;    ///< step of the first evaluation that reached the target
  double max_grad_norm = 0;
  double median_grad_norm = 0;
  double clipped_share = 0;
  std::string failure;  ///< empty, "non-finite", "stall" or "blow-up"
  double plateau = 0;   ///< loss of always answering with the class or character frequencies
  /// Further numbers that the task or the probes give, under "metrics".
  std::map<std::string, double> metrics;
  /// Of a run in low precision: where something happened first, under "notes".
  std::map<std::string, std::string> notes;
  /// Of a run in low precision: counts by module, under "rounding".
  nlohmann::ordered_json rounding;
};

/// Shares of the time of a training step; they add up to 1.
struct TimeSplit {
  double norm = 0;
  double attention = 0;
  double ffn = 0;
  double optimizer = 0;
  double other = 0;
};

/// timing.json, field by field.
struct RunTiming {
  double ms_per_step = 0;  ///< median, without warm-up, evaluations and instrument samples
  double tokens_per_second = 0;
  TimeSplit time_split;
  std::vector<double> eval_seconds;
  std::optional<double> seconds_to_target;  ///< training time only, evaluations left out
};

struct RunOutcome {
  bool completed = false;  ///< false: stopped on request, the directory holds no result.json
  RunResult result;
  RunTiming timing;
};

/// Settings that change no curve.
struct TrainOptions {
  std::filesystem::path cache_dir;  ///< of prepared data; empty: default_cache_dir()
  bool save_weights = false;        ///< also weights.safetensors, what the run ended with
  /// Called after each step, on the same thread, with the loss of that step.
  std::function<void(int steps_done, double loss)> on_step;
};

/// Trains one run on the calling thread with one thread and writes config.json, metrics.jsonl,
/// timing.json and, last and atomically, result.json to `run_dir`, which is created and emptied of
/// those files first. Several calls may run at once on threads of their own.
/// Throws UsageError for a config that breaks a rule, InputError for missing or changed data and
/// for output that can't be written.
RunOutcome train(const RunConfig& config, const std::filesystem::path& run_dir, StopToken stop = {},
                 const TrainOptions& options = {});

/// Makes the calling thread, and what LibTorch does for it, compute with one thread; train() does.
void use_one_thread();

/// Values of RunConfig::task.
const std::vector<std::string>& task_names();
/// Values of RunConfig::model for a task, the one first that an empty text means.
std::vector<std::string> model_names(const std::string& task);
/// Values of RunConfig::norm for the task and model of `config`.
const std::vector<std::string>& norms_of(const RunConfig& config);

/// Throws UsageError for what the model of `config` cannot be built with.
void check_for_model(const RunConfig& config);

/// Throws UsageError, naming field, value and rule, unless `config` can be trained.
void validate(const RunConfig& config);

}  // namespace equinorm::lab
