// Which learning rate an arm is judged at.
#pragma once

#include <optional>
#include <vector>

namespace equinorm::lab {

struct RateScore {
  int failed = 0;  ///< crashed runs included
  int broken = 0;  ///< those of them without an end that counts
  int n = 0;       ///< runs behind the mean
  double mean = 0;
  bool any = false;  ///< whether a run is finished
};

/// Fewest failed runs first, then fewest broken ones, then the better mean; the first of equals. A
/// rate without a single finished run is never the best.
[[nodiscard]] std::optional<std::size_t> choose_best_rate(const std::vector<RateScore>& rates,
                                                          bool higher_is_better);

}  // namespace equinorm::lab
