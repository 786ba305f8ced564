// The article's claims beside the measurement, and what may be concluded.
//
// The one trap: a difference whose interval covers 0 names no winner, whatever the means say.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "lab/report/table.hpp"
#include "lab/report/wording.hpp"

namespace equinorm::lab::report {
namespace {

// What the article printed for a norm, without task, model or error bars. It knows the two usual
// placements only.
struct ArticleRow {
  const char* convergence;
  double accuracy;
  const char* stability;
};

std::optional<ArticleRow> article(const Arm& arm) {
  const std::string& norm = arm.norm;
  if (arm.placement != "pre" && arm.placement != "post") return std::nullopt;
  if (norm == "none") return ArticleRow{"slow", 78.2, "poor"};
  if (norm == "batch") return ArticleRow{"medium", 81.5, "medium"};
  if (norm == "layer") return ArticleRow{"fast", 85.7, "good"};
  if (norm == "rms") return ArticleRow{"fastest", 84.9, "good"};
  return std::nullopt;
}

std::string target_text(const ArmSummary& arm) {
  if (arm.runs_at_best == 0) return kDash;
  const std::string steps =
      arm.steps_to_target ? fmt::format("{:.0f}", *arm.steps_to_target) : kDash;
  return fmt::format("{} ({} of {})", steps, arm.reached_target, arm.runs_at_best);
}

std::string failure_text(const FailureCounts& failures) {
  return fmt::format("{} of {}", failures.failed(), failures.rate.n);
}

std::string metric_with_n(const TaskSummary& task, const ArmSummary& arm) {
  if (arm.metric.n == 0) return "no run trained";
  return fmt::format("{} (n{}={}{})", metric_text(task, arm.metric), kSpace, kSpace, arm.metric.n);
}

bool is_better(const TaskSummary& task, const Estimate& difference) {
  return (difference.mean > 0) == task.higher_is_better;
}

std::string article_order(const ArmSummary& arm, const ArmSummary& baseline) {
  const auto ours = article(arm.arm);
  const auto other = article(baseline.arm);
  if (!ours || !other || arm.arm.norm == baseline.arm.norm) return kDash;
  const double gap = ours->accuracy - other->accuracy;
  return fmt::format("{:.1f} points {}", std::fabs(gap), gap > 0 ? "better" : "worse");
}

std::string claim_verdict(const TaskSummary& task, const PairedDifference& difference,
                          const ArmSummary& baseline) {
  const auto ours = article(difference.arm);
  const auto other = article(baseline.arm);
  if (!ours || !other || difference.arm.norm == baseline.arm.norm) return kDash;
  if (!difference.difference.can_find()) return "not measurable with fewer than 3 seeds";
  if (!difference.found()) return "not found";
  const bool claimed_better = ours->accuracy > other->accuracy;
  return is_better(task, difference.difference) == claimed_better ? "reproduced" : "opposite";
}

std::string outcome(const TaskSummary& task, const PairedDifference& difference) {
  if (!difference.found()) return "not decided";
  return is_better(task, difference.difference) ? "better" : "worse";
}

// "no norm did better" would say the opposite.
std::string label_in_sentence(const Arm& arm) {
  return arm.name() == "none" ? "the model without norm" : label_of(arm);
}

std::string baseline_label(const TaskSummary& task) {
  if (task.differences.empty()) return "";
  const ArmSummary* arm = task.find(task.differences[0].baseline);
  return arm == nullptr ? task.differences[0].baseline : label_in_sentence(arm->arm);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

// All arms that share the least value, or "" when none has one.
std::string least(const TaskSummary& task, double (*value)(const ArmSummary&), const char* what,
                  const char* unit) {
  double smallest = kNotANumber;
  for (const ArmSummary& arm : task.arms) smallest = std::fmin(smallest, value(arm));
  std::vector<std::string> names;
  for (const ArmSummary& arm : task.arms) {
    if (value(arm) == smallest) names.push_back(label_of(arm.arm));
  }
  if (names.empty()) return "";
  return fmt::format("{} {} {}: {}. ", what, number_text(smallest, 3), unit, joined(names));
}

}  // namespace

Table claim_table(const TaskSummary& task) {
  Table table{.caption = "The article\u2019s table, and the same measured",
              .note = {},
              .header = {"Norm", "Article: convergence", "Article: accuracy", "Article: stability",
                         metric_title(task), "Best rate", "Steps to target (runs that reached it)",
                         "ms per step", "Largest gradient", "Failed runs at that rate"},
              .rows = {}};
  for (const ArmSummary& arm : task.arms) {
    const auto claimed = article(arm.arm);
    table.rows.push_back(
        {label_of(arm.arm), claimed ? claimed->convergence : kDash,
         claimed ? fmt::format("{:.1f}{}%", claimed->accuracy, kSpace) : kDash,
         claimed ? claimed->stability : kDash, metric_with_n(task, arm),
         arm.best ? fmt::format("{:g}", arm.rates[*arm.best].learning_rate) : kDash,
         target_text(arm), number_text(arm.ms_per_step, 3), number_text(arm.max_grad_norm, 3),
         failure_text(arm.failures)});
  }
  const std::string target = is_accuracy(task) ? fmt::format("{:.1f} %", 100 * task.target)
                                               : fmt::format("{:.3g} nats", task.target);
  table.note = fmt::format(
      "The article, an introduction to LayerNorm in Transformers, names no task, model or error "
      "bars. Its \u201cconvergence\u201d is split here "
      "into "
      "steps to the target ({}, median over the runs that reached it) and time per step (median). "
      "Intervals are 95 % t-intervals over seeds. ",
      target);
  table.note += least(
      task, [](const ArmSummary& arm) { return arm.steps_to_target.value_or(kNotANumber); },
      "Fewest steps,", "to the target");
  table.note += least(
      task, [](const ArmSummary& arm) { return arm.ms_per_step; }, "Shortest step,", "ms");
  table.note +=
      "Whether other arms differ from these two is not tested, and runs side by side slow each "
      "other down.";
  return table;
}

Table difference_table(const TaskSummary& task) {
  const std::string baseline = baseline_label(task);
  Table table{.caption = "Paired differences to " + baseline,
              .note =
                  "Same seed, same data order: differences are taken seed by seed, each arm at "
                  "its own best rate. Where the 95 % interval covers 0, no winner is named. A "
                  "verdict speaks of the order in the article\u2019s table, not of its size.",
              .header = {"Norm", "Difference", "n", "Against " + baseline, "The article implies",
                         "Verdict"},
              .rows = {}};
  for (const PairedDifference& difference : task.differences) {
    const ArmSummary* arm = task.find(difference.arm.name());
    const ArmSummary* base = task.find(difference.baseline);
    if (arm == nullptr || base == nullptr) continue;
    table.rows.push_back({label_of(difference.arm), difference_text(task, difference.difference),
                          std::to_string(difference.difference.n), outcome(task, difference),
                          article_order(*arm, *base), claim_verdict(task, difference, *base)});
  }
  return table;
}

std::string answer(const Summary& summary) {
  std::string text;
  for (const TaskSummary& task : summary.tasks) {
    std::vector<std::string> better, worse, open, untold;
    int fewest = std::numeric_limits<int>::max();
    for (const PairedDifference& difference : task.differences) {
      auto& list = !difference.difference.can_find()        ? untold
                   : !difference.found()                    ? open
                   : is_better(task, difference.difference) ? better
                                                            : worse;
      list.push_back(label_in_sentence(difference.arm));
      fewest = std::min(fewest, difference.difference.n);
    }
    std::vector<std::string> parts;
    if (!better.empty()) {
      parts.push_back(fmt::format("{} did better than {}", joined(better), baseline_label(task)));
    }
    if (!worse.empty()) {
      parts.push_back(better.empty()
                          ? fmt::format("{} did worse than {}", joined(worse), baseline_label(task))
                          : fmt::format("{} did worse", joined(worse)));
    }
    if (!open.empty()) {
      parts.push_back(better.empty() && worse.empty()
                          ? fmt::format("no difference to {} was found for {}",
                                        baseline_label(task), joined(open))
                          : fmt::format("no difference was found for {}", joined(open)));
    }
    if (!untold.empty()) {
      parts.push_back(fmt::format("{} cannot be told from {} with fewer than 3 seeds",
                                  joined(untold), baseline_label(task)));
    }
    if (parts.empty()) continue;
    text += fmt::format("{}on {} (n{}={}{}), {}", text.empty() ? "" : "; ", label_of_task(task),
                        kSpace, kSpace, fewest, joined(parts));
  }
  if (text.empty()) return "There was nothing to compare.";
  text[0] = 'O';
  return text + ".";
}

}  // namespace equinorm::lab::report
