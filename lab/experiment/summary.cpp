#include "lab/experiment/summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "lab/experiment/best_rate.hpp"

namespace equinorm::lab {
namespace {

bool failed(const Run& run) { return !run.result.failure.empty(); }

bool is_image_task(const std::string& task) { return task == "fashion-mnist" || task == "idx"; }

double metric_of(const Run& run) {
  if (!is_image_task(run.config.task)) return run.result.final_loss;
  return run.result.final_accuracy.value_or(kNotANumber);
}

/// Final loss, or the loss before training where that is smaller or the final one is not finite.
double capped_loss(const Run& run) {
  const double final = run.result.final_loss;
  return std::isfinite(final) ? std::min(final, run.result.initial_loss) : run.result.initial_loss;
}

RateSummary summarize_rate(double learning_rate, std::vector<const Run*> runs, int errors) {
  std::stable_sort(runs.begin(), runs.end(),
                   [](const Run* a, const Run* b) { return a->config.seed < b->config.seed; });
  RateSummary rate;
  rate.learning_rate = learning_rate;
  rate.failures.errors = errors;
  std::vector<double> metrics;
  std::vector<double> losses;
  for (const Run* run : runs) {
    count_failure(rate.failures, run->result.failure);
    losses.push_back(capped_loss(*run));
    if (!failed(*run)) metrics.push_back(metric_of(*run));
  }
  finish_failures(rate.failures);
  rate.metric = estimate_mean(metrics);
  rate.capped_loss = estimate_mean(losses).mean;
  rate.runs = std::move(runs);
  return rate;
}

std::optional<std::size_t> best_rate(const std::vector<RateSummary>& rates, bool higher_is_better) {
  std::vector<RateScore> scores;
  for (const RateSummary& rate : rates) {
    scores.push_back({rate.failures.failed() + rate.failures.errors, rate.failures.broken(),
                      rate.metric.n, rate.metric.mean, !rate.runs.empty()});
  }
  return choose_best_rate(scores, higher_is_better);
}

std::optional<double> sensitivity_of(const std::vector<RateSummary>& rates) {
  std::vector<double> losses;
  for (const RateSummary& rate : rates) {
    if (!rate.runs.empty()) losses.push_back(rate.capped_loss);
  }
  if (losses.size() < 2) return std::nullopt;
  return estimate_mean(losses).mean - *std::min_element(losses.begin(), losses.end());
}

TimeSplit mean_split(const std::vector<const Run*>& runs) {
  TimeSplit mean;
  const double weight = 1.0 / static_cast<double>(runs.size());
  for (const Run* run : runs) {
    const TimeSplit& split = run->timing.time_split;
    mean.norm += weight * split.norm;
    mean.attention += weight * split.attention;
    mean.ffn += weight * split.ffn;
    mean.optimizer += weight * split.optimizer;
    mean.other += weight * split.other;
  }
  return mean;
}

void fill_times(ArmSummary& arm, const std::vector<const Run*>& runs) {
  std::vector<double> ms_per_step;
  std::vector<double> tokens_per_second;
  std::vector<double> steps_to_target;
  for (const Run* run : runs) {
    ms_per_step.push_back(run->timing.ms_per_step);
    tokens_per_second.push_back(run->timing.tokens_per_second);
    if (run->result.steps_to_target) steps_to_target.push_back(*run->result.steps_to_target);
  }
  arm.ms_per_step = median(ms_per_step);
  arm.tokens_per_second = median(tokens_per_second);
  arm.reached_target = static_cast<int>(steps_to_target.size());
  if (!steps_to_target.empty()) arm.steps_to_target = median(steps_to_target);
  if (!runs.empty()) arm.split = mean_split(runs);
}

void fill_gradients(ArmSummary& arm, const std::vector<const Run*>& runs) {
  std::vector<double> medians;
  for (const Run* run : runs) {
    // fmax takes the number where one side is NaN.
    arm.max_grad_norm = std::fmax(arm.max_grad_norm, run->result.max_grad_norm);
    if (std::isfinite(run->result.median_grad_norm)) {
      medians.push_back(run->result.median_grad_norm);
    }
  }
  arm.median_grad_norm = median(medians);
}

void add(FailureCounts& total, const FailureCounts& part) {
  total.non_finite += part.non_finite;
  total.stall += part.stall;
  total.blow_up += part.blow_up;
  total.errors += part.errors;
  total.rate.n += part.rate.n;
}

ArmSummary summarize_arm(const Comparison& comparison, const std::string& task, const Arm& arm,
                         bool higher_is_better) {
  std::map<double, std::vector<const Run*>> by_rate;
  std::map<double, int> errors;
  const auto belongs = [&](const RunConfig& config) {
    return config.task == task && make_arm(config.norm, config.placement) == arm;
  };
  for (const Run& run : comparison.runs) {
    if (belongs(run.config)) by_rate[run.config.learning_rate].push_back(&run);
  }
  for (const RunError& error : comparison.errors) {
    if (!belongs(error.config)) continue;
    ++errors[error.config.learning_rate];
    by_rate.try_emplace(error.config.learning_rate);
  }

  ArmSummary summary;
  summary.arm = arm;
  for (auto& [learning_rate, runs] : by_rate) {
    summary.rates.push_back(summarize_rate(learning_rate, std::move(runs), errors[learning_rate]));
    add(summary.failures_all_rates, summary.rates.back().failures);
  }
  finish_failures(summary.failures_all_rates);
  summary.sensitivity = sensitivity_of(summary.rates);
  summary.best = best_rate(summary.rates, higher_is_better);
  if (!summary.best) return summary;

  const RateSummary& best = summary.rates[*summary.best];
  summary.metric = best.metric;
  summary.failures = best.failures;
  summary.runs_at_best = static_cast<int>(best.runs.size());
  std::vector<const Run*> trained;
  std::copy_if(best.runs.begin(), best.runs.end(), std::back_inserter(trained),
               [](const Run* run) { return !failed(*run); });
  fill_times(summary, trained);
  fill_gradients(summary, best.runs);
  return summary;
}

std::map<std::uint64_t, double> metric_by_seed(const ArmSummary& arm) {
  std::map<std::uint64_t, double> metrics;
  if (!arm.best) return metrics;
  for (const Run* run : arm.rates[*arm.best].runs) {
    if (!failed(*run)) metrics[run->config.seed] = metric_of(*run);
  }
  return metrics;
}

PairedDifference compare_arms(const ArmSummary& arm, const ArmSummary& baseline) {
  const auto ours = metric_by_seed(arm);
  const auto theirs = metric_by_seed(baseline);
  std::vector<double> a;
  std::vector<double> b;
  for (const auto& [seed, metric] : ours) {
    const auto found = theirs.find(seed);
    if (found == theirs.end()) continue;
    a.push_back(metric);
    b.push_back(found->second);
  }
  return {arm.arm, baseline.arm.name(), estimate_paired_difference(a, b)};
}

TaskSummary summarize_task(const Comparison& comparison, const std::string& task) {
  TaskSummary summary;
  summary.task = task;
  summary.higher_is_better = is_image_task(task);
  summary.metric = summary.higher_is_better ? "accuracy" : "loss";
  for (const RunConfig& settings : comparison.request.settings) {
    if (settings.task == task) summary.target = settings.target;
  }
  for (const Arm& arm : comparison.request.arms) {
    summary.arms.push_back(summarize_arm(comparison, task, arm, summary.higher_is_better));
  }
  if (const ArmSummary* baseline = summary.find(comparison.request.baseline)) {
    for (const ArmSummary& arm : summary.arms) {
      if (&arm != baseline) summary.differences.push_back(compare_arms(arm, *baseline));
    }
  }
  return summary;
}

}  // namespace

void count_failure(FailureCounts& counts, const std::string& failure) {
  counts.non_finite += failure == "non-finite";
  counts.stall += failure == "stall";
  counts.blow_up += failure == "blow-up";
  ++counts.rate.n;
}

void finish_failures(FailureCounts& counts) {
  counts.rate = estimate_proportion(counts.failed(), counts.rate.n);
}

const ArmSummary* TaskSummary::find(const std::string& arm_name) const {
  for (const ArmSummary& arm : arms) {
    if (arm.arm.name() == arm_name) return &arm;
  }
  return nullptr;
}

Summary summarize(const Comparison& comparison) {
  Summary summary;
  for (const std::string& task : comparison.request.tasks) {
    summary.tasks.push_back(summarize_task(comparison, task));
  }
  return summary;
}

std::string describe_difference(const Estimate& difference, double scale, int digits) {
  if (difference.n == 0) return "no pair of runs to compare";
  char text[96];
  if (!difference.can_find()) {
    std::snprintf(text, sizeof text, "%+.*f, but a finding needs 3 seeds and this has %d", digits,
                  scale * difference.mean, difference.n);
  } else if (!difference.excludes_zero()) {
    std::snprintf(text, sizeof text, "no difference found (%+.*f +- %.*f)", digits,
                  scale * difference.mean, digits, scale * difference.half_width);
  } else {
    std::snprintf(text, sizeof text, "%+.*f +- %.*f", digits, scale * difference.mean, digits,
                  scale * difference.half_width);
  }
  return text;
}

}  // namespace equinorm::lab
