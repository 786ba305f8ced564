#include "lab/experiment/results_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "lab/experiment/text_table.hpp"

namespace equinorm::lab {
namespace {

std::string number(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "-";
}

struct Scale {
  double factor;
  int digits;
  const char* unit;
};

Scale scale_of(const TaskSummary& task) {
  return task.higher_is_better ? Scale{100, 2, "%"} : Scale{1, 4, "nats"};
}

std::string describe(const Estimate& estimate, const Scale& scale) {
  if (estimate.n == 0) return "-";
  const std::string mean = number(scale.factor * estimate.mean, scale.digits);
  if (!estimate.has_interval()) return mean;
  return mean + " +- " + number(scale.factor * estimate.half_width, scale.digits);
}

std::string describe_steps(const ArmSummary& arm) {
  const std::string median = arm.steps_to_target ? number(*arm.steps_to_target, 0) : "-";
  return fmt::format("{} ({}/{})", median, arm.reached_target, arm.runs_at_best);
}

std::string target_heading(const TaskSummary& task) {
  const Scale scale = scale_of(task);
  return fmt::format("steps to {:g} {}", scale.factor * task.target, scale.unit);
}

TextRow describe_arm(const ArmSummary& arm, const Scale& scale) {
  if (!arm.best) {
    return {arm.arm.name(),
            "0",
            "-",
            "-",
            "-",
            "-",
            "-",
            "-",
            "-",
            describe_failures(arm.failures_all_rates)};
  }
  return {arm.arm.name(),
          std::to_string(arm.metric.n),
          describe(arm.metric, scale),
          fmt::format("{:g}", arm.rates[*arm.best].learning_rate),
          arm.sensitivity ? number(*arm.sensitivity, 4) : "-",
          describe_steps(arm),
          number(arm.ms_per_step, 2),
          arm.metric.n == 0 ? "-" : number(100 * arm.split.norm, 1) + " %",
          number(arm.max_grad_norm, 2),
          describe_failures(arm.failures_all_rates)};
}

std::string render_task(const TaskSummary& task) {
  const Scale scale = scale_of(task);
  std::string text = fmt::format(
      "{}: {} in {}, {} is better; mean +- 95 % t-interval over n seeds at each arm's best "
      "rate\n\n",
      task.task, task.metric, scale.unit, task.higher_is_better ? "higher" : "lower");
  std::vector<TextRow> rows = {{"arm", "n", task.metric, "best rate", "sensitivity",
                                target_heading(task), "ms/step", "norm share", "max grad norm",
                                "failed runs, all rates"}};
  for (const ArmSummary& arm : task.arms) rows.push_back(describe_arm(arm, scale));
  text += align_rows(rows);
  if (task.differences.empty()) return text;

  text += fmt::format("\nPaired differences to {} over the seeds, in {}:\n\n",
                      task.differences[0].baseline,
                      task.higher_is_better ? "percentage points" : scale.unit);
  rows = {{"arm", "n", "difference"}};
  for (const PairedDifference& pair : task.differences) {
    rows.push_back({pair.arm.name(), std::to_string(pair.difference.n),
                    describe_difference(pair.difference, scale.factor, scale.digits)});
  }
  return text + align_rows(rows);
}

std::string describe_end(const Crash& error) {
  if (error.signal) {
    return fmt::format("ended by signal {} ({})", *error.signal, ::strsignal(*error.signal));
  }
  if (error.exit_code) return fmt::format("exited with {}", *error.exit_code);
  return "could not be started";
}

}  // namespace

std::string describe_failures(const FailureCounts& failures) {
  std::string text = fmt::format("{}/{}", failures.failed(), failures.rate.n);
  if (failures.failed() > 0) {
    text += fmt::format(" [{:.0f}-{:.0f} %]:", 100 * failures.rate.low, 100 * failures.rate.high);
    const char* separator = " ";
    const auto add = [&](int count, const char* kind) {
      if (count == 0) return;
      text += fmt::format("{}{} {}", separator, count, kind);
      separator = ", ";
    };
    add(failures.non_finite, "non-finite");
    add(failures.stall, "stall");
    add(failures.blow_up, "blow-up");
  }
  if (failures.errors > 0) text += fmt::format("; {} crashed", failures.errors);
  return text;
}

std::string render_tables(const Summary& summary) {
  std::string text;
  for (const TaskSummary& task : summary.tasks) {
    if (!text.empty()) text += "\n";
    text += render_task(task);
  }
  return text;
}

std::string render_crashes(const std::vector<Crash>& crashes) {
  std::string text;
  for (const Crash& crash : crashes) {
    std::string tail = crash.stderr_tail;
    tail.erase(tail.find_last_not_of('\n') + 1);
    text += fmt::format("run {} {}:\n{}\n", crash.id, describe_end(crash),
                        tail.empty() ? "(it wrote nothing to its standard error)" : tail);
  }
  return text;
}

std::string render_errors(const Comparison& comparison) {
  return render_crashes({comparison.errors.begin(), comparison.errors.end()});
}

}  // namespace equinorm::lab
