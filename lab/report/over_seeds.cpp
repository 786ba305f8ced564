#include "lab/report/over_seeds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace equinorm::lab::report {

StepValues gather(
    const std::vector<const Run*>& runs,
    const std::function<void(const Run&, const std::function<void(int, double)>&)>& collect) {
  StepValues values;
  const auto put = [&values](int step, double value) {
    if (std::isfinite(value)) values[step].push_back(value);
  };
  for (const Run* run : runs) collect(*run, put);
  return values;
}

double mean_of(const std::vector<double>& values) {
  return values.empty() ? kNotANumber
                        : std::accumulate(values.begin(), values.end(), 0.0) /
                              static_cast<double>(values.size());
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    if (value <= 0) return 0;
    sum += std::log(value);
  }
  return values.empty() ? kNotANumber : std::exp(sum / static_cast<double>(values.size()));
}

void add_to(Series& series, const StepValues& values) {
  for (const auto& [step, at_step] : values) {
    series.line.push_back({static_cast<double>(step), mean_of(at_step)});
    if (at_step.size() < 2) continue;
    const auto [low, high] = std::minmax_element(at_step.begin(), at_step.end());
    series.band.push_back({static_cast<double>(step), *low, *high});
  }
}

}  // namespace equinorm::lab::report
