#include "lab/experiment/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <random>
#include <vector>

namespace equinorm::lab {
namespace {

double mean_of(std::span<const double> values) {
  // Long double keeps the mean of equal values equal to them, so that their sd is exactly 0.
  long double sum = 0;
  for (const double value : values) sum += value;
  return static_cast<double>(sum / static_cast<long double>(values.size()));
}

/// Uniform in [0, n) by rejection: std::uniform_int_distribution differs between libraries.
std::size_t draw_index(std::mt19937_64& generator, std::uint64_t n) {
  const std::uint64_t rejected = (std::mt19937_64::max() % n + 1) % n;
  std::uint64_t word = generator();
  while (word > std::mt19937_64::max() - rejected) word = generator();
  return static_cast<std::size_t>(word % n);
}

double quantile_of_sorted(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  return share == 0 ? sorted[below] : sorted[below] + share * (sorted[above] - sorted[below]);
}

}  // namespace

bool Estimate::excludes_zero() const noexcept { return can_find() && std::abs(mean) > half_width; }

Estimate estimate_mean(std::span<const double> values, double confidence) {
  Estimate estimate;
  estimate.n = static_cast<int>(values.size());
  if (values.empty()) return estimate;
  estimate.mean = mean_of(values);
  if (values.size() < 2) return estimate;
  long double squares = 0;
  for (const double value : values) {
    const long double deviation = static_cast<long double>(value) - estimate.mean;
    squares += deviation * deviation;
  }
  const double n = static_cast<double>(values.size());
  estimate.sd = std::sqrt(static_cast<double>(squares) / (n - 1));
  const boost::math::students_t distribution(n - 1);
  const double t = boost::math::quantile(distribution, 0.5 + 0.5 * confidence);
  estimate.half_width = t * estimate.sd / std::sqrt(n);
  return estimate;
}

Estimate estimate_paired_difference(std::span<const double> a, std::span<const double> b,
                                    double confidence) {
  std::vector<double> differences(std::min(a.size(), b.size()));
  for (std::size_t i = 0; i < differences.size(); ++i) differences[i] = a[i] - b[i];
  return estimate_mean(differences, confidence);
}

Bounds bootstrap_mean(std::span<const double> values, std::uint64_t seed, int folds,
                      double confidence) {
  if (values.empty() || folds < 1) return {};
  std::mt19937_64 generator(seed);
  std::vector<double> resample(values.size());
  std::vector<double> means(static_cast<std::size_t>(folds));
  for (double& mean : means) {
    for (double& value : resample) value = values[draw_index(generator, values.size())];
    mean = mean_of(resample);
  }
  std::sort(means.begin(), means.end());
  const double tail = 0.5 - 0.5 * confidence;
  return {quantile_of_sorted(means, tail), quantile_of_sorted(means, 1 - tail)};
}

Proportion estimate_proportion(int hits, int n, double confidence) {
  Proportion proportion{hits, n, 0, 1};
  if (n <= 0) return proportion;
  const double z = boost::math::quantile(boost::math::normal(), 0.5 + 0.5 * confidence);
  const double p = static_cast<double>(hits) / n;
  const double scale = 1 / (1 + z * z / n);
  const double centre = scale * (p + z * z / (2.0 * n));
  const double half = scale * z * std::sqrt(p * (1 - p) / n + z * z / (4.0 * n * n));
  // At the ends the bound is 0 or 1 exactly; rounding must not say otherwise.
  proportion.low = hits == 0 ? 0 : centre - half;
  proportion.high = hits == n ? 1 : centre + half;
  return proportion;
}

ShareDifference estimate_difference(const Proportion& a, const Proportion& b) {
  if (a.n <= 0 || b.n <= 0) return {};
  const double p = static_cast<double>(a.hits) / a.n;
  const double q = static_cast<double>(b.hits) / b.n;
  return {p - q,
          {p - q - std::hypot(p - a.low, b.high - q), p - q + std::hypot(a.high - p, q - b.low)}};
}

double quantile(std::span<const double> values, double q) {
  if (values.empty()) return kNotANumber;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return quantile_of_sorted(sorted, q);
}

Quartiles quartiles(std::span<const double> values) {
  return {quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)};
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

}  // namespace equinorm::lab
