// How metrics are called and written: one wording for the terminal, the report and the tables.
#pragma once

#include <string>

#include "lab/experiment/statistics.hpp"

namespace equinorm::lab {

/// "held-out loss, nats" for "loss"; the name with spaces for one that is not in the list.
[[nodiscard]] std::string title_of_metric(const std::string& metric);

/// "84.1 %", "2.094", "1.3e-07"; "-" for NaN.
[[nodiscard]] std::string metric_value(const std::string& metric, double value);

/// "2.094 +- 0.012 (n = 3)"; without an interval for one seed.
[[nodiscard]] std::string metric_estimate(const std::string& metric, const Estimate& estimate);

/// "1 of 12 (2 % to 35 %)", with Wilson's interval.
[[nodiscard]] std::string share_text(const std::string& metric, const Proportion& share);

/// "+42 points (+25 to +56)"
[[nodiscard]] std::string difference_interval(const std::string& metric,
                                              const ShareDifference& difference);

/// "+1.2 +- 0.4 points" of a difference, "+3.1 % +- 0.8 %" of a relative one.
[[nodiscard]] std::string difference_estimate(const std::string& metric, const Estimate& estimate,
                                              bool relative);

}  // namespace equinorm::lab
