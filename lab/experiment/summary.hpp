// The numbers that the table and the report print, computed from loaded runs alone.
//
// How failures count: a run that failed (non-finite, stall, blow-up) has no part in `metric`, in
// the paired differences or in the times; n says how many runs did. So that this cannot flatter an
// arm, the best rate is chosen among the rates with the fewest failed or crashed runs, and only
// then by the mean. Sensitivity takes failed runs in, at min(final, initial) loss.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/experiment/run_store.hpp"
#include "lab/experiment/statistics.hpp"

namespace equinorm::lab {

/// Runs that did not train, by kind, and the rate of all kinds together. A crashed process is
/// counted in `errors`, is no evidence about the model, and is not part of `rate`.
struct FailureCounts {
  int non_finite = 0;
  int stall = 0;
  int blow_up = 0;
  int errors = 0;
  Proportion rate;  ///< failed out of finished, Wilson interval

  [[nodiscard]] int failed() const noexcept { return non_finite + stall + blow_up; }
  /// Without an end that counts.
  [[nodiscard]] int broken() const noexcept { return non_finite + blow_up + errors; }
};

/// Counts one finished run, whose failure may be "".
void count_failure(FailureCounts& counts, const std::string& failure);
/// Fills in the rate once all runs are counted.
void finish_failures(FailureCounts& counts);

/// One arm at one learning rate.
struct RateSummary {
  double learning_rate = 0;
  Estimate metric;  ///< over runs that did not fail
  FailureCounts failures;
  double capped_loss = kNotANumber;  ///< mean over finished runs of min(final, initial) loss
  std::vector<const Run*> runs;      ///< finished, by seed, failed ones included
};

/// One arm of one task. Everything below `best` is at the best rate.
struct ArmSummary {
  Arm arm;
  std::vector<RateSummary> rates;   ///< ascending learning rate
  std::optional<std::size_t> best;  ///< index into rates; empty when no run is finished
  /// Mean over the sweep of capped_loss - the lowest capped_loss; empty for a single rate.
  std::optional<double> sensitivity;

  Estimate metric;
  std::optional<double> steps_to_target;  ///< median over the runs that reached it
  int reached_target = 0;
  int runs_at_best = 0;                    ///< finished, failed ones included
  double ms_per_step = kNotANumber;        ///< median
  double tokens_per_second = kNotANumber;  ///< median
  TimeSplit split;                         ///< mean of the fractions
  double max_grad_norm = kNotANumber;      ///< greatest over runs, failed ones included
  double median_grad_norm = kNotANumber;   ///< median over runs of each run's median
  FailureCounts failures;                  ///< at the best rate
  FailureCounts failures_all_rates;
};

/// arm - baseline over the seeds where both did not fail, each arm at its own best rate.
struct PairedDifference {
  Arm arm;
  std::string baseline;
  Estimate difference;

  /// False: "no difference found (+-half_width)"; no winner may be named.
  [[nodiscard]] bool found() const noexcept { return difference.excludes_zero(); }
};

struct TaskSummary {
  std::string task;
  std::string metric;  ///< "accuracy" (fraction, higher is better) or "loss" (nats, lower)
  bool higher_is_better = false;
  double target = 0;
  std::vector<ArmSummary> arms;               ///< in the order of the request
  std::vector<PairedDifference> differences;  ///< every arm but the baseline

  [[nodiscard]] const ArmSummary* find(const std::string& arm_name) const;
};

struct Summary {
  std::vector<TaskSummary> tasks;
};

/// Pointers inside refer to `comparison`, which must outlive the summary.
[[nodiscard]] Summary summarize(const Comparison& comparison);

/// "no difference found (+-0.012)" or "+0.031 +- 0.012": one wording for table and report.
/// `scale` multiplies (100 for percent); `digits` after the point.
[[nodiscard]] std::string describe_difference(const Estimate& difference, double scale, int digits);

}  // namespace equinorm::lab
