// Mean, its tail and 1/sqrt(variance) of one row of the compute type, and whether they can be
// trusted (docs/numerics.md sections 3 and 4).
//
// Rows are already widened. The trap: statistics of an untrusted row are meaningless numbers, not
// errors; the caller must look at `trusted` first.
#if defined(EQUINORM_KERNELS_STATISTICS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUINORM_KERNELS_STATISTICS_INL_H_
#undef EQUINORM_KERNELS_STATISTICS_INL_H_
#else
#define EQUINORM_KERNELS_STATISTICS_INL_H_
#endif

#include <limits>

#include "reduce-inl.h"
#include "rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

/// RMSNorm leaves mean and tail at 0.
template <class C>
struct RowStatistics {
  C mean = 0;
  C tail = 0;
  C rstd = 0;
  double center = 0;    ///< the mean in f64
  double variance = 0;  ///< v of the contract
  double pull = 1;      ///< how strongly the spread of the row enters its gradient
  bool finite = true;   ///< S and Q are, and what they do not see
  bool trusted = true;  ///< the row may use these
};

template <class C>
inline constexpr double kLargestVariance = sizeof(C) == 4 ? 0x1p90 : 0x1p900;
template <class C>
inline constexpr double kSmallestVariance = sizeof(C) == 4 ? 0x1p-90 : 0x1p-900;

template <class C>
struct Sum {
  const C* x;
  template <class Part, class D, class V>
  HWY_INLINE void operator()(Part part, D d, std::size_t i, V (&sum)[1]) const {
    sum[0] = hn::Add(sum[0], part.load(d, x + i));
  }
};

template <class C>
struct Squares {
  const C* x;
  template <class Part, class D, class V>
  HWY_INLINE void operator()(Part part, D d, std::size_t i, V (&sum)[1]) const {
    const V v = part.load(d, x + i);
    sum[0] = fma(v, v, sum[0]);
  }
};

template <class C>
struct Deviations {
  const C* x;
  hn::Vec<Full<C>> mean;
  template <class Part, class D, class V>
  HWY_INLINE void operator()(Part part, D d, std::size_t i, V (&sum)[2]) const {
    const V v = hn::Sub(part.load(d, x + i), mean);
    sum[0] = hn::Add(sum[0], v);
    sum[1] = fma(v, v, sum[1]);
  }
};

/// What the squares of n deviations are divided by.
HWY_INLINE double divisor(const RowForm& form, std::size_t n) {
  if (form.spread == Spread::length) return 1;
  return static_cast<double>(form.unbiased && n > 1 ? n - 1 : n);
}

/// rstd and pull from v, the sum of squares over divisor(form, n).
template <class C>
HWY_INLINE void set_spread(double v, const RowForm& form, RowStatistics<C>& out) {
  const auto in_range = [](double a) {
    return a >= kSmallestVariance<C> && a <= kLargestVariance<C>;
  };
  const double eps = form.eps;
  out.variance = v;
  double span = 0;  // 1 / rstd
  if (form.spread == Spread::root || form.spread == Spread::length) {
    span = std::sqrt(v + eps);
    out.trusted = out.finite && in_range(v + eps);
    out.pull = 1;
  } else {
    const double s = std::sqrt(v);
    const bool added = form.spread == Spread::added;
    span = added ? s + eps : s > eps ? s : eps;
    out.trusted = out.finite && in_range(v == 0 ? eps : v) && eps <= kLargestVariance<C>;
    out.pull = added ? (s > 0 ? span / s : 0) : (s > eps ? 1 : 0);
  }
  if (form.detach_spread) out.pull = 0;
  out.rstd = span > 0 ? static_cast<C>(1 / span) : 0;
}

template <class C>
HWY_INLINE RowStatistics<C> centered_statistics(const C* x, std::size_t n, const RowForm& form) {
  const double count = static_cast<double>(n);
  Sum<C> sum{x};
  double total[1];
  reduce<C, 1>(sum, n, total);
  const C mean = static_cast<C>(total[0] / count);
  Deviations<C> deviations{x, hn::Set(Full<C>(), mean)};
  double moments[2];
  reduce<C, 2>(deviations, n, moments);
  const auto [first, second] = moments;
  const double delta = first / count;
  const double variance = second / count - delta * delta;
  const double center = mean + delta;
  const double z = center - mean;
  const double lost = (mean - (center - z)) + (delta - z);
  RowStatistics<C> out;
  out.center = center;
  out.mean = static_cast<C>(center);
  out.tail = static_cast<C>((center - out.mean) + lost);
  out.finite = std::isfinite(first) && std::isfinite(second);
  set_spread(form.unbiased ? variance * (count / divisor(form, n)) : variance, form, out);
  out.trusted = out.trusted && (second > 0 ? delta * delta <= variance / 64 : first == 0);
  return out;
}

template <class C>
HWY_INLINE RowStatistics<C> plain_statistics(const C* x, std::size_t n, const RowForm& form) {
  const auto part = static_cast<std::size_t>(form.part);
  Squares<C> squares{x};
  double total[1];
  reduce<C, 1>(squares, part, total);
  RowStatistics<C> out;
  out.finite = std::isfinite(total[0]) && (part == n || row_is_finite(x + part, n - part));
  set_spread(total[0] / divisor(form, part), form, out);
  return out;
}

/// Statistics that are given, in f64: rows that have them are computed in it, element by element.
template <bool kCentered>
HWY_INLINE RowStatistics<double> given_statistics(const RowForm& form, const Given& given,
                                                  std::int64_t r) {
  RowStatistics<double> out;
  if (kCentered) out.center = out.mean = given.mean[given.index(r)];
  set_spread(given.variance[given.index(r)], form, out);
  return out;
}

/// n > 0.
template <bool kCentered, class C>
HWY_NOINLINE RowStatistics<C> row_statistics(const C* x, std::size_t n, const RowForm& form) {
  if constexpr (kCentered) {
    return centered_statistics(x, n, form);
  } else {
    return plain_statistics(x, n, form);
  }
}

/// Statistics of the exact path of C = f32, in f64; all NaN for a row that holds a NaN or an
/// infinity, the only way in which sums over widened f32 values are not finite.
template <bool kCentered>
HWY_INLINE RowStatistics<double> exact_statistics(const double* x, std::size_t n,
                                                  const RowForm& form) {
  RowStatistics<double> out = row_statistics<kCentered>(x, n, form);
  if (!out.finite) {
    out.mean = out.tail = out.rstd = std::numeric_limits<double>::quiet_NaN();
    out.center = out.variance = out.rstd;
  }
  return out;
}

/// xhat of a vector: fma(x - mean, rstd, -(tail * rstd)), or x * rstd.
template <bool kCentered, class C>
struct Normalizer {
  using V = hn::Vec<Full<C>>;
  V mean, rstd, shift;

  HWY_INLINE explicit Normalizer(const RowStatistics<C>& s)
      : mean(hn::Set(Full<C>(), s.mean)),
        rstd(hn::Set(Full<C>(), s.rstd)),
        shift(hn::Set(Full<C>(), -(s.tail * s.rstd))) {}

  HWY_INLINE V operator()(V x) const {
    if constexpr (kCentered) return fma(hn::Sub(x, mean), rstd, shift);
    return hn::Mul(x, rstd);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();
#endif
