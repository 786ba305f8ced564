// One number of a verdict, a table, a figure or a diff: its mean, its 95 % interval and how it is
// written. Shares of failed runs have score intervals (Wilson's, Newcombe's of differences), all
// else t-intervals over seeds; nobody but this file tells them apart.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "lab/evidence/results.hpp"

namespace equinorm::lab {

struct Finding {
  int n = 0;                  ///< seeds
  double mean = kNotANumber;  ///< NaN when n = 0
  double low = kNotANumber;   ///< NaN without an interval
  double high = kNotANumber;
  std::string text = "-";  ///< "2.094 +- 0.012 (n = 3)", "1 of 12 (2 % to 35 %)"

  [[nodiscard]] bool can_find() const { return n >= kSeedsForFinding; }
  [[nodiscard]] bool excludes_zero() const { return can_find() && (low > 0 || high < 0); }
};

using Cells = std::vector<const Cell*>;

/// The cells of an arm at points at which it was planned.
[[nodiscard]] Cells cells_at(const ExperimentResults& results, const std::string& arm,
                             const std::vector<Point>& points);

/// A metric, averaged over the cells for the seeds that have it in all of them.
[[nodiscard]] BySeed metric_over(const Cells& cells, const std::string& metric);

[[nodiscard]] Finding finding_of(const Cells& cells, const std::string& metric);

/// Two sides that are compared, and the seeds that tell nothing about it.
struct Contrast {
  Cells a;
  Cells b;
  std::set<std::uint64_t> silent{};
};

/// a - b, or (a - b) / |b|, for the seeds that both have.
[[nodiscard]] BySeed paired(const BySeed& a, const BySeed& b, bool relative);
[[nodiscard]] BySeed differences_of(const Contrast& contrast, const std::string& metric,
                                    bool relative);

[[nodiscard]] Finding difference_of(const BySeed& differences, const std::string& metric,
                                    bool relative);
/// The same for a contrast, whose shares count every run.
[[nodiscard]] Finding difference_of(const Contrast& contrast, const std::string& metric,
                                    bool relative);

}  // namespace equinorm::lab
