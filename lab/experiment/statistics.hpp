// Statistics of small samples: mean with a t-interval, paired differences, bootstrap, failure
// rates, quantiles. Not a general statistics library: only what a comparison of runs prints.
//
// The one trap: an interval needs two values. With fewer, sd and half_width are NaN and n says why.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace equinorm::lab {

inline constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

/// Two values that happen to agree give an interval of no width, so a finding needs three.
inline constexpr int kSeedsForFinding = 3;

/// Mean of n values with the half width of its 95 % t-interval: mean +- half_width.
struct Estimate {
  int n = 0;
  double mean = kNotANumber;        ///< NaN when n = 0
  double sd = kNotANumber;          ///< sample standard deviation (n - 1); NaN when n < 2
  double half_width = kNotANumber;  ///< NaN when n < 2

  [[nodiscard]] bool has_interval() const noexcept { return half_width >= 0; }
  [[nodiscard]] double low() const noexcept { return mean - half_width; }
  [[nodiscard]] double high() const noexcept { return mean + half_width; }
  [[nodiscard]] bool can_find() const noexcept { return n >= kSeedsForFinding; }
  /// True when the interval of at least three values leaves out 0: only then is a difference
  /// called found.
  [[nodiscard]] bool excludes_zero() const noexcept;
};

/// Mean, standard deviation and the t-interval at `confidence` (0 < confidence < 1).
[[nodiscard]] Estimate estimate_mean(std::span<const double> values, double confidence = 0.95);

/// Estimate of the mean of a[i] - b[i]; a and b have the same size, element i the same seed.
[[nodiscard]] Estimate estimate_paired_difference(std::span<const double> a,
                                                  std::span<const double> b,
                                                  double confidence = 0.95);

/// Two-sided bounds of a quantity.
struct Bounds {
  double low = kNotANumber;
  double high = kNotANumber;
};

/// Percentile bootstrap of the mean: `folds` resamples from a generator seeded with `seed`, the
/// same on every machine. NaN bounds for no values.
[[nodiscard]] Bounds bootstrap_mean(std::span<const double> values, std::uint64_t seed,
                                    int folds = 10000, double confidence = 0.95);

/// `hits` out of `n` with the 95 % Wilson interval of the rate; [0, 1] when n = 0.
struct Proportion {
  int hits = 0;
  int n = 0;
  double low = 0;
  double high = 1;
};

/// Wilson score interval at `confidence`; 0 <= hits <= n.
[[nodiscard]] Proportion estimate_proportion(int hits, int n, double confidence = 0.95);

/// a - b with Newcombe's hybrid score interval (1998, method 10), for independent samples; NaN
/// bounds without trials in one of them.
struct ShareDifference {
  double mean = kNotANumber;
  Bounds bounds;
};
[[nodiscard]] ShareDifference estimate_difference(const Proportion& a, const Proportion& b);

/// Quantile q in [0, 1] with linear interpolation between order statistics (type 7); NaN for no
/// values. `values` need not be sorted.
[[nodiscard]] double quantile(std::span<const double> values, double q);

struct Quartiles {
  double low = kNotANumber;
  double median = kNotANumber;
  double high = kNotANumber;
};

[[nodiscard]] Quartiles quartiles(std::span<const double> values);
[[nodiscard]] double median(std::span<const double> values);

}  // namespace equinorm::lab
