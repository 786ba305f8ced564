#include "lab/evidence/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "lab/evidence/endings.hpp"
#include "lab/evidence/finding.hpp"
#include "lab/evidence/metric_text.hpp"

namespace equinorm::lab {
namespace {

bool any_finished(const ExperimentResults& results, const std::string& arm,
                  const std::vector<Point>& points) {
  return std::any_of(points.begin(), points.end(), [&](const Point& point) {
    return results.find(arm, point)->best.has_value();
  });
}

std::string size_text(const VerdictRule& rule, double size) {
  return rule.relative ? fmt::format("{:g} %", 100 * size) : metric_value(rule.metric, size);
}

std::string averaged_text(const std::vector<Point>& points) {
  return points.size() == 1 ? "" : fmt::format(" (mean over {} settings)", points.size());
}

Verdict judge_direction(const VerdictRule& rule, const Finding& difference, Verdict verdict) {
  const double size = rule.lower ? -difference.mean : difference.mean;
  const double least = rule.lower ? -difference.high : difference.low;
  const double most = rule.lower ? -difference.low : difference.high;
  const bool excludes_claim = rule.at_least && most < *rule.at_least;
  const std::string claimed = rule.at_least ? size_text(rule, *rule.at_least) : "";
  if (difference.excludes_zero() && size > 0) {
    verdict.outcome = excludes_claim ? Outcome::not_found : Outcome::reproduced;
    if (excludes_claim) {
      verdict.detail =
          "in the claimed direction, but the interval excludes the claimed size, " + claimed;
    } else if (rule.at_least) {
      const bool surely = least >= *rule.at_least;
      verdict.detail = surely ? "at least the claimed size, " + claimed
                              : "the interval holds the claimed size, " + claimed;
    }
  } else if (difference.excludes_zero()) {
    verdict.outcome = Outcome::opposite;
    verdict.detail = "the interval lies on the other side of 0";
  } else {
    verdict.outcome = Outcome::not_found;
    verdict.detail =
        excludes_claim  ? "the interval excludes the claimed size, " + claimed
        : rule.at_least ? "the interval holds both 0 and the claimed size, " + claimed +
                              ": these runs do not say"
                        : fmt::format("the interval holds 0; up to {} either way stays possible",
                                      size_text(rule, std::max(std::fabs(least), std::fabs(most))));
  }
  return verdict;
}

Verdict judge_within(const VerdictRule& rule, const Finding& difference, Verdict verdict) {
  const double low = difference.low;
  const double high = difference.high;
  const std::string limit = size_text(rule, rule.within);
  if (low >= -rule.within && high <= rule.within) {
    verdict.outcome = Outcome::reproduced;
    verdict.detail = "the whole interval lies within +-" + limit;
  } else if (low > rule.within || high < -rule.within) {
    verdict.outcome = Outcome::opposite;
    verdict.detail = low > 0 ? "the whole interval lies above +" + limit
                             : "the whole interval lies below -" + limit;
  } else {
    verdict.outcome = Outcome::not_found;
    verdict.detail = "the interval reaches across " + limit + ": these runs do not say";
  }
  return verdict;
}

/// What the difference of a rule is to be larger than: that of other arms or at another point.
std::optional<VerdictRule> subtracted(const VerdictRule& rule) {
  if (rule.minus_at.empty() && rule.minus_compare.empty()) return std::nullopt;
  VerdictRule other = rule;
  if (!rule.minus_compare.empty()) other.compare = rule.minus_compare;
  if (!rule.minus_at.empty()) other.at = rule.minus_at;
  return other;
}

Contrast contrast_of(const VerdictRule& rule, const ExperimentResults& results) {
  const std::vector<Point> points = results.points_of(rule.compare, rule.at);
  return {cells_at(results, rule.compare[0], points), cells_at(results, rule.compare[1], points),
          silent_seeds(results, rule, points)};
}

Finding judged_difference(const VerdictRule& rule, const std::optional<VerdictRule>& less,
                          const ExperimentResults& results) {
  const Contrast contrast = contrast_of(rule, results);
  if (!less) return difference_of(contrast, rule.metric, rule.relative);
  const auto differences = [&](const Contrast& of) {
    return differences_of(of, rule.metric, rule.relative);
  };
  return difference_of(
      paired(differences(contrast), differences(contrast_of(*less, results)), false), rule.metric,
      rule.relative);
}

Verdict judge_comparison(const VerdictRule& rule, const ExperimentResults& results) {
  for (const Point* at : {&rule.at, &rule.minus_at}) {
    const std::string missing = results.missing_setting(*at);
    if (!missing.empty()) return {Outcome::not_measurable, "", 0, missing};
  }
  const std::vector<Point> points = results.points_of(rule.compare, rule.at);
  Verdict verdict;
  for (const std::string& arm : rule.compare) {
    if (!any_finished(results, arm, points)) return verdict;
  }
  const std::optional<VerdictRule> less = subtracted(rule);
  const Finding difference = judged_difference(rule, less, results);
  verdict.n = difference.n;
  verdict.number = difference.text;
  if (!difference.can_find()) {
    verdict.outcome = Outcome::not_measurable;
    verdict.detail = too_few_text(results, rule, points) + ends_text(results, rule, points);
    return verdict;
  }
  verdict = rule.kind == RuleKind::within ? judge_within(rule, difference, verdict)
                                          : judge_direction(rule, difference, verdict);
  verdict.detail += averaged_text(points) + ends_text(results, rule, points);
  if (!rule.minus_compare.empty()) {
    verdict.detail += ends_text(results, *less, results.points_of(less->compare, less->at));
  }
  return verdict;
}

bool meets(const Condition& condition, double value) {
  if (condition.low && (condition.strict ? value <= *condition.low : value < *condition.low)) {
    return false;
  }
  return !condition.high || (condition.strict ? value < *condition.high : value <= *condition.high);
}

/// No point of [low, high] meets the condition.
bool lies_outside(const Condition& condition, double low, double high) {
  const bool above =
      condition.high && (condition.strict ? low >= *condition.high : low > *condition.high);
  const bool below =
      condition.low && (condition.strict ? high <= *condition.low : high < *condition.low);
  return above || below;
}

std::string bound_text(const Condition& condition) {
  const auto text = [&](double value) { return metric_value(condition.metric, value); };
  if (condition.low && condition.high) {
    return *condition.low == *condition.high
               ? "= " + text(*condition.low)
               : "from " + text(*condition.low) + " to " + text(*condition.high);
  }
  if (condition.low) return (condition.strict ? "> " : ">= ") + text(*condition.low);
  return (condition.strict ? "< " : "<= ") + text(*condition.high);
}

std::string about(const Condition& condition) {
  const std::string point = describe_point(condition.at);
  return condition.arm + ": " + title_of_metric(condition.metric) +
         (point.empty() ? "" : " at " + point);
}

void append(std::string& text, const std::string& part) {
  text += (text.empty() ? "" : "; ") + part;
}

/// What a condition says where it cannot be judged; nothing where some run gave its metric.
std::optional<Verdict> not_judged(const Condition& condition, const ExperimentResults& results,
                                  bool gave) {
  const std::string missing = results.missing_setting(condition.at);
  if (!missing.empty()) return Verdict{Outcome::not_measurable, "", 0, missing};
  if (gave) return std::nullopt;
  const std::vector<Point> points = results.points_of({condition.arm}, condition.at);
  if (!any_finished(results, condition.arm, points)) {
    return Verdict{Outcome::not_run, "", 0, "no run is finished of " + about(condition)};
  }
  return Verdict{
      Outcome::not_measurable, "", 0,
      "no run gave " + about(condition) + "; " + state_of(results, condition.arm, points)};
}

struct RunValues {
  std::vector<double> values;
  int without = 0;  ///< finished runs whose metric is not finite
};

/// Every finished run at the points of a condition.
RunValues all_values(const Condition& condition, const ExperimentResults& results) {
  RunValues runs;
  for (const Point& point : results.points_of({condition.arm}, condition.at)) {
    for (const RateCell& rate : results.find(condition.arm, point)->rates) {
      for (const auto& [seed, record] : rate.records) {
        const double value = record->metric(condition.metric);
        if (std::isfinite(value)) {
          runs.values.push_back(value);
        } else {
          ++runs.without;
        }
      }
    }
  }
  return runs;
}

Verdict judge_exact(const VerdictRule& rule, const ExperimentResults& results) {
  Verdict verdict;
  verdict.outcome = Outcome::by_construction;
  for (const Condition& condition : rule.require) {
    const auto [values, without] = all_values(condition, results);
    if (const auto other = not_judged(condition, results, !values.empty())) return *other;
    const auto wrong = std::find_if_not(values.begin(), values.end(),
                                        [&](double value) { return meets(condition, value); });
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    const int runs = static_cast<int>(values.size());
    verdict.n = verdict.n == 0 ? runs : std::min(verdict.n, runs);
    const std::string range = *least == *most ? metric_value(condition.metric, *least)
                                              : metric_value(condition.metric, *least) + " to " +
                                                    metric_value(condition.metric, *most);
    append(verdict.number, condition.arm + " " + range);
    append(verdict.detail, about(condition) + " must be " + bound_text(condition));
    if (without > 0) {
      verdict.detail += fmt::format(", {} runs gave no finite number", without);
    } else if (wrong != values.end()) {
      verdict.detail += ", a run has " + metric_value(condition.metric, *wrong);
    } else {
      continue;
    }
    verdict.outcome = Outcome::opposite;
  }
  return verdict;
}

Verdict judge_value(const VerdictRule& rule, const ExperimentResults& results) {
  Verdict verdict;
  verdict.outcome = Outcome::reproduced;
  for (const Condition& condition : rule.require) {
    const std::vector<Point> points = results.points_of({condition.arm}, condition.at);
    const Finding found = finding_of(cells_at(results, condition.arm, points), condition.metric);
    if (const auto other = not_judged(condition, results, found.n > 0)) return *other;
    verdict.n = verdict.n == 0 ? found.n : std::min(verdict.n, found.n);
    append(verdict.number, condition.arm + " " + found.text);
    append(verdict.detail, about(condition) + " must be " + bound_text(condition));
    if (!found.can_find()) {
      return {Outcome::not_measurable, verdict.number, verdict.n, "a finding needs 3 seeds"};
    }
    if (meets(condition, found.low) && meets(condition, found.high)) continue;
    if (lies_outside(condition, found.low, found.high)) {
      verdict.outcome = Outcome::opposite;
      verdict.detail += ", the whole interval does not";
    } else if (verdict.outcome != Outcome::opposite) {
      verdict.outcome = Outcome::not_found;
      verdict.detail += ", the interval reaches across";
    }
  }
  return verdict;
}

/// An arm that a rule names and that was not planned; empty where there is none.
std::string missing_arm(const VerdictRule& rule, const ExperimentResults& results) {
  std::vector<std::string> arms = rule.compare;
  arms.insert(arms.end(), rule.minus_compare.begin(), rule.minus_compare.end());
  for (const Condition& condition : rule.require) arms.push_back(condition.arm);
  for (const std::string& arm : arms) {
    const bool planned = std::any_of(results.cells.begin(), results.cells.end(),
                                     [&](const Cell& cell) { return cell.arm == arm; });
    if (!planned) return arm;
  }
  return "";
}

}  // namespace

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::reproduced:
      return "reproduced";
    case Outcome::opposite:
      return "opposite";
    case Outcome::not_found:
      return "not found";
    case Outcome::by_construction:
      return "true by construction";
    case Outcome::not_measurable:
      return "not measurable here";
    case Outcome::note:
      return "note";
    case Outcome::not_run:
      break;
  }
  return "not run";
}

Verdict judge(const VerdictRule& rule, const ExperimentResults& results) {
  const std::string missing = missing_arm(rule, results);
  if (!missing.empty()) {
    return {Outcome::not_measurable, "", 0,
            "the tier " + results.tier + " has no arm '" + missing + "'"};
  }
  switch (rule.kind) {
    case RuleKind::exact:
      return judge_exact(rule, results);
    case RuleKind::value:
      return judge_value(rule, results);
    default:
      return judge_comparison(rule, results);
  }
}

}  // namespace equinorm::lab
