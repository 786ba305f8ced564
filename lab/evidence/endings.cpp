#include "lab/evidence/endings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "lab/evidence/known_metrics.hpp"
#include "lab/evidence/metric_text.hpp"

namespace equinorm::lab {
namespace {

bool any_gave(const ExperimentResults& results, const std::string& arm,
              const std::vector<Point>& points, const std::string& metric) {
  return std::any_of(points.begin(), points.end(), [&](const Point& point) {
    return !metric_by_seed(*results.find(arm, point), metric).empty();
  });
}

}  // namespace

std::string state_of(const ExperimentResults& results, const std::string& arm,
                     const std::vector<Point>& points) {
  int finished = 0;
  int failed = 0;
  for (const Point& point : points) {
    const RateCell* best = results.find(arm, point)->at_best();
    if (best == nullptr) continue;
    finished += best->failures.rate.n;
    failed += best->failures.failed();
  }
  return fmt::format("{}: {} of {} runs failed at its best rate", arm, failed, finished);
}

std::set<std::uint64_t> silent_seeds(const ExperimentResults& results, const VerdictRule& rule,
                                     const std::vector<Point>& points) {
  std::set<std::uint64_t> silent;
  const auto add_common = [&](auto&& seeds_of) {
    for (const Point& point : points) {
      const auto a = seeds_of(*results.find(rule.compare[0], point));
      const auto b = seeds_of(*results.find(rule.compare[1], point));
      std::set_intersection(a.begin(), a.end(), b.begin(), b.end(),
                            std::inserter(silent, silent.end()));
    }
  };
  if (is_end_of_training(rule.metric)) add_common(stalled_seeds);
  if (rule.metric == "steps_to_target") add_common(seeds_off_target);
  return silent;
}

std::string ends_text(const ExperimentResults& results, const VerdictRule& rule,
                      const std::vector<Point>& points) {
  std::string text;
  const auto add = [&](auto&& seeds_of, const char* what) {
    for (const std::string& arm : rule.compare) {
      std::size_t found = 0;
      std::size_t runs = 0;
      for (const Point& point : points) {
        const Cell& cell = *results.find(arm, point);
        found += seeds_of(cell).size();
        runs += cell.best ? cell.at_best()->records.size() : 0;
      }
      if (found > 0) text += fmt::format("; {}: {} of {} runs {}", arm, found, runs, what);
    }
  };
  if (is_end_of_training(rule.metric)) add(stalled_seeds, "stalled");
  if (rule.metric == "steps_to_target") add(seeds_off_target, "never reached the target");
  return text;
}

std::string too_few_text(const ExperimentResults& results, const VerdictRule& rule,
                         const std::vector<Point>& points) {
  std::string without;
  std::string states;
  for (const std::string& arm : rule.compare) {
    states += "; " + state_of(results, arm, points);
    if (any_gave(results, arm, points, rule.metric)) continue;
    without += (without.empty() ? "" : " and of ") + arm;
  }
  if (without.empty()) {
    return fmt::format("a finding needs {} seeds with both arms{}", kSeedsForFinding, states);
  }
  return fmt::format("no run of {} gave: {}{}", without, title_of_metric(rule.metric), states);
}

}  // namespace equinorm::lab
