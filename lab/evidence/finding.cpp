#include "lab/evidence/finding.hpp"

#include <cmath>

#include "lab/evidence/metric_text.hpp"

namespace equinorm::lab {
namespace {

bool is_share(const std::string& metric) { return metric == "failed" || metric == "cannot_train"; }

/// Failed runs of all finished ones, or seeds that no rate trains.
Proportion share_of(const Cells& cells, const std::string& metric) {
  int hits = 0;
  int n = 0;
  for (const Cell* cell : cells) {
    if (metric == "failed") {
      for (const RateCell& rate : cell->rates) {
        hits += rate.failures.failed();
        n += rate.failures.rate.n;
      }
    } else {
      for (const auto& [seed, value] : metric_by_seed(*cell, metric)) {
        hits += value == 1 ? 1 : 0;
        ++n;
      }
    }
  }
  return estimate_proportion(hits, n);
}

Finding with_t_interval(const Estimate& estimate, const std::string& text) {
  return {estimate.n, estimate.mean, estimate.low(), estimate.high(), text};
}

}  // namespace

Cells cells_at(const ExperimentResults& results, const std::string& arm,
               const std::vector<Point>& points) {
  Cells cells;
  for (const Point& point : points) cells.push_back(results.find(arm, point));
  return cells;
}

BySeed metric_over(const Cells& cells, const std::string& metric) {
  std::map<std::uint64_t, std::vector<double>> all;
  for (const Cell* cell : cells) {
    for (const auto& [seed, value] : metric_by_seed(*cell, metric)) all[seed].push_back(value);
  }
  BySeed means;
  for (const auto& [seed, values] : all) {
    if (values.size() == cells.size()) means[seed] = estimate_mean(values).mean;
  }
  return means;
}

Finding finding_of(const Cells& cells, const std::string& metric) {
  const Estimate by_seed = estimate_of(metric_over(cells, metric));
  const Proportion share = is_share(metric) ? share_of(cells, metric) : Proportion{};
  if (share.n == 0) return with_t_interval(by_seed, metric_estimate(metric, by_seed));
  return {by_seed.n, static_cast<double>(share.hits) / share.n, share.low, share.high,
          share_text(metric, share)};
}

BySeed paired(const BySeed& a, const BySeed& b, bool relative) {
  BySeed differences;
  for (const auto& [seed, value] : a) {
    const auto other = b.find(seed);
    if (other == b.end()) continue;
    const double difference = value - other->second;
    differences[seed] = relative ? difference / std::fabs(other->second) : difference;
  }
  return differences;
}

BySeed differences_of(const Contrast& contrast, const std::string& metric, bool relative) {
  BySeed differences =
      paired(metric_over(contrast.a, metric), metric_over(contrast.b, metric), relative);
  for (const auto seed : contrast.silent) differences.erase(seed);
  return differences;
}

Finding difference_of(const BySeed& differences, const std::string& metric, bool relative) {
  const Estimate by_seed = estimate_of(differences);
  return with_t_interval(by_seed, difference_estimate(metric, by_seed, relative));
}

Finding difference_of(const Contrast& contrast, const std::string& metric, bool relative) {
  Finding finding = difference_of(differences_of(contrast, metric, relative), metric, relative);
  if (!is_share(metric) || relative || finding.n == 0) return finding;
  const ShareDifference shares =
      estimate_difference(share_of(contrast.a, metric), share_of(contrast.b, metric));
  return {finding.n, shares.mean, shares.bounds.low, shares.bounds.high,
          difference_interval(metric, shares)};
}

}  // namespace equinorm::lab
