// What a comparison has to know and to say of runs that did not end well: that stalled, never
// reached their target, or gave no number.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "lab/evidence/declaration.hpp"
#include "lab/evidence/results.hpp"

namespace equinorm::lab {

/// Seeds that tell nothing about a difference: of losses and scores those that stalled in both arms
/// at some point, of steps to the target those that missed it in both.
[[nodiscard]] std::set<std::uint64_t> silent_seeds(const ExperimentResults& results,
                                                   const VerdictRule& rule,
                                                   const std::vector<Point>& points);

/// "; post: 3 of 3 runs stalled" for arms that did at their best rates, or missed the target.
[[nodiscard]] std::string ends_text(const ExperimentResults& results, const VerdictRule& rule,
                                    const std::vector<Point>& points);

/// "post: 1 of 3 runs failed at its best rate"
[[nodiscard]] std::string state_of(const ExperimentResults& results, const std::string& arm,
                                   const std::vector<Point>& points);

/// Why fewer seeds than needed have both arms: a metric that no run gave, or runs that failed.
[[nodiscard]] std::string too_few_text(const ExperimentResults& results, const VerdictRule& rule,
                                       const std::vector<Point>& points);

}  // namespace equinorm::lab
