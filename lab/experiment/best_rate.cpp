#include "lab/experiment/best_rate.hpp"

#include <tuple>

namespace equinorm::lab {

std::optional<std::size_t> choose_best_rate(const std::vector<RateScore>& rates,
                                            bool higher_is_better) {
  const auto better_mean = [&](const RateScore& a, const RateScore& b) {
    if (a.n == 0 || b.n == 0) return a.n > b.n;
    return higher_is_better ? a.mean > b.mean : a.mean < b.mean;
  };
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (!rates[i].any) continue;
    if (!best) {
      best = i;
      continue;
    }
    const RateScore& other = rates[*best];
    const auto failures = std::tie(rates[i].failed, rates[i].broken);
    const auto others = std::tie(other.failed, other.broken);
    if (failures < others || (failures == others && better_mean(rates[i], other))) best = i;
  }
  return best;
}

}  // namespace equinorm::lab
