// The backward pass of one row of the compute type: its two moments, then dx and the row's share
// of dgamma and dbeta.
//
// Which rows may come here is decided in backward-inl.h. The trap: dx may be dy or x itself, so
// every element is read before it is written and nothing is read twice within a pass.
#if defined(EQUINORM_KERNELS_GRADIENT_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUINORM_KERNELS_GRADIENT_ROW_INL_H_
#undef EQUINORM_KERNELS_GRADIENT_ROW_INL_H_
#else
#define EQUINORM_KERNELS_GRADIENT_ROW_INL_H_
#endif

#include "normalize_row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

template <class C>
inline constexpr double kLargestGradient = sizeof(C) == 4 ? 0x1p100 : 0x1p900;
template <class C>
inline constexpr double kSmallestGradient = sizeof(C) == 4 ? 0x1p-100 : 0x1p-900;

template <class C>
HWY_INLINE bool gradient_in_range(double largest) {
  return largest >= kSmallestGradient<C> && largest <= kLargestGradient<C>;
}

/// One row of inputs.
template <class C>
struct GradientRow {
  const C* x;
  const C* dy;
  std::size_t n;
};

/// c1 and c2 of the contract.
template <class C>
struct Moments {
  C c1 = 0;
  C c2 = 0;
  std::size_t part = 0;  ///< columns that c2 is for
  bool finite = true;    ///< the sums are
  bool trusted = true;   ///< and max|g| is in range
};

/// Sums of g * xhat and, with kSumG, of g; and the largest |g|.
template <bool kCentered, bool kSumG, class C, class Gain>
struct MomentSums {
  static constexpr int kSums = kSumG ? 2 : 1;
  const C* x;
  const C* dy;
  Gain gain;
  Normalizer<kCentered, C> xhat_of;
  hn::Vec<Full<C>> largest;

  template <class Part, class D, class V>
  HWY_INLINE void operator()(Part part, D d, std::size_t i, V (&sum)[kSums]) {
    const V xhat = xhat_of(part.load(d, x + i));
    V g = part.load(d, dy + i);
    if constexpr (kHasGain<Gain>) g = hn::Mul(g, gain(part, d, i, xhat));
    sum[0] = fma(g, xhat, sum[0]);
    if constexpr (kSumG) sum[1] = hn::Add(sum[1], g);
    largest = hn::Max(largest, hn::Abs(g));
  }
};

/// Every g is 0 because its dy or its gain is, not because the product underflowed.
template <class Sums>
HWY_NOINLINE bool gradient_is_zero(const Sums& row, std::size_t n) {
  using Gain = decltype(row.gain);
  using C = std::remove_cv_t<std::remove_pointer_t<decltype(row.x)>>;
  if constexpr (kHasGain<Gain>) {
    const Full<C> d;
    auto lost = hn::Zero(d);
    for_each_vector<C>(n, [&](auto part, std::size_t i) HWY_ATTR {
      const auto dy = part.load(d, row.dy + i);
      const auto gain = row.gain(part, d, i, row.xhat_of(part.load(d, row.x + i)));
      const auto both = hn::And(hn::Ne(dy, hn::Zero(d)), hn::Ne(gain, hn::Zero(d)));
      lost = hn::IfThenElse(both, hn::Set(d, C{1}), lost);
    });
    return hn::GetLane(hn::MaxOfLanes(d, lost)) == 0;
  } else {
    return true;
  }
}

template <bool kCentered, class C, class Gain>
HWY_NOINLINE Moments<C> row_moments(const GradientRow<C>& row, Gain gain, const RowStatistics<C>& s,
                                    const RowForm& form) {
  const Full<C> d;
  using Sums = MomentSums<kCentered, kCentered, C, Gain>;
  Sums sums{row.x, row.dy, gain, Normalizer<kCentered, C>(s), hn::Zero(d)};
  double total[Sums::kSums];
  reduce<C, Sums::kSums>(sums, row.n, total);
  const double largest = hn::GetLane(hn::MaxOfLanes(d, sums.largest));
  Moments<C> out;
  out.part = static_cast<std::size_t>(form.part);
  out.c2 = static_cast<C>(s.pull * (total[0] / divisor(form, out.part)));
  out.finite = std::isfinite(total[0]);
  if constexpr (kCentered) {
    if (!form.detach_mean) out.c1 = static_cast<C>(total[1] / static_cast<double>(row.n));
    out.finite = out.finite && std::isfinite(total[1]);
  }
  out.trusted = out.finite &&
                (gradient_in_range<C>(largest) || (largest == 0 && gradient_is_zero(sums, row.n)));
  return out;
}

/// Sums over rows that a row adds its terms to: dgamma += dy * xhat, dbeta += dy; null for none.
template <class C>
struct Terms {
  C* dgamma = nullptr;
  C* dbeta = nullptr;  ///< given only with dgamma
};

/// dx of a row and its terms: kTerms 0 for none, 1 for dgamma, 2 for dbeta too.
template <bool kCentered, int kTerms, class C, class Gain, class TX>
HWY_NOINLINE void write_dx(const GradientRow<C>& row, Gain gain, const RowStatistics<C>& s,
                           const Moments<C>& m, TX* dx, Terms<C> terms, const Passage<2>& passage) {
  const Full<C> d;
  const Normalizer<kCentered, C> xhat_of(s);
  const auto minus_c1 = hn::Set(d, -m.c1);
  const auto c2 = hn::Set(d, m.c2);
  const C* x = row.x;
  const C* dy = row.dy;
  const std::size_t part = m.part;
  for_each_vector<C>(row.n, passage, dx, [=](auto vector, std::size_t i) HWY_ATTR {
    const auto xhat = xhat_of(vector.load(d, x + i));
    const auto dyv = vector.load(d, dy + i);
    auto g = dyv;  // minus c1
    if constexpr (kHasGain<Gain>) {
      const auto gainv = gain(vector, d, i, xhat);
      g = kCentered ? fma(dyv, gainv, minus_c1) : hn::Mul(dyv, gainv);
    } else if constexpr (kCentered) {
      g = hn::Add(dyv, minus_c1);
    }
    auto pull = c2;
    if constexpr (!kCentered) {
      // Columns that the statistics do not see feel no pull.
      if (HWY_UNLIKELY(i + kCount < Full < C >>> part)) {
        pull = hn::IfThenElseZero(hn::FirstN(d, i < part ? part - i : 0), c2);
      }
    }
    vector.store(hn::Mul(fnma(xhat, pull, g), xhat_of.rstd), d, dx + i);
    if constexpr (kTerms > 0) {
      hn::Store(fma(dyv, xhat, hn::Load(d, terms.dgamma + i)), d, terms.dgamma + i);
    }
    if constexpr (kTerms > 1) {
      hn::Store(hn::Add(hn::Load(d, terms.dbeta + i), dyv), d, terms.dbeta + i);
    }
  });
}

template <bool kCentered, class C, class Gain, class TX>
HWY_INLINE void write_gradient(const GradientRow<C>& row, Gain gain, const RowStatistics<C>& s,
                               const Moments<C>& m, TX* dx, Terms<C> terms,
                               const Passage<2>& passage) {
  if constexpr (!std::is_same_v<Gain, AdaptiveGain<C>>) {  // which comes without parameters
    if (terms.dbeta != nullptr) {
      return write_dx<kCentered, 2>(row, gain, s, m, dx, terms, passage);
    }
    if (terms.dgamma != nullptr) {
      return write_dx<kCentered, 1>(row, gain, s, m, dx, terms, passage);
    }
  }
  write_dx<kCentered, 0>(row, gain, s, m, dx, terms, passage);
}

/// Moments of a row whose columns share the gain by segments, and the row's own terms: per segment
/// the sums of dy * xhat and of dy.
template <bool kCentered, class C>
HWY_NOINLINE Moments<C> segment_moments(const GradientRow<C>& row, const C* gain,
                                        std::size_t segment, const RowStatistics<C>& s,
                                        const RowForm& form, double* dgamma, double* dbeta) {
  const Full<C> d;
  Moments<C> out;
  out.part = segment;
  double sum_g = 0, sum_g_xhat = 0, largest = 0;
  bool lost = false;  // a product underflowed to 0
  for (std::size_t k = 0, i = 0; i < row.n; ++k, i += segment) {
    MomentSums<kCentered, true, C, NoGain> sums{row.x + i, row.dy + i, NoGain(),
                                                Normalizer<kCentered, C>(s), hn::Zero(d)};
    double total[2];
    reduce<C, 2>(sums, segment, total);
    const double of_dy = hn::GetLane(hn::MaxOfLanes(d, sums.largest));
    const double u = gain != nullptr ? static_cast<double>(gain[k]) : 1.0;
    const double of_g = std::fabs(u) * of_dy;
    dgamma[k] = total[0];
    dbeta[k] = total[1];
    sum_g_xhat += u * total[0];
    sum_g += u * total[1];
    largest = of_g > largest ? of_g : largest;
    lost = lost || (of_g == 0 && u != 0 && of_dy != 0);
    out.finite = out.finite && std::isfinite(total[0]) && std::isfinite(total[1]);
  }
  const auto n = static_cast<double>(row.n);
  out.c2 = static_cast<C>(s.pull * (sum_g_xhat / divisor(form, row.n)));
  if (kCentered && !form.detach_mean) out.c1 = static_cast<C>(sum_g / n);
  out.finite = out.finite && std::isfinite(sum_g_xhat) && std::isfinite(sum_g);
  out.trusted = out.finite && (gradient_in_range<C>(largest) || (largest == 0 && !lost));
  return out;
}

/// dx of such a row.
template <bool kCentered, class C, class TX>
HWY_NOINLINE void write_dx_segments(const GradientRow<C>& row, const C* gain, std::size_t segment,
                                    const RowStatistics<C>& s, const Moments<C>& m, TX* dx) {
  for (std::size_t k = 0, i = 0; i < row.n; ++k, i += segment) {
    const GradientRow<C> part{row.x + i, row.dy + i, segment};
    if (gain != nullptr) {
      write_dx<kCentered, 0>(part, UniformGain<C>(gain[k]), s, m, dx + i, {}, {});
    } else {
      write_dx<kCentered, 0>(part, NoGain(), s, m, dx + i, {}, {});
    }
  }
}

/// dx = (dy * gain) * rstd: the gradient where the statistics are constants.
template <class C, class Gain, class TX>
HWY_NOINLINE void write_scaled(const C* dy, std::size_t n, Gain gain, C rstd, TX* dx) {
  const Full<C> d;
  const auto r = hn::Set(d, rstd);
  for_each_vector<C>(n, [=](auto part, std::size_t i) HWY_ATTR {
    auto g = part.load(d, dy + i);
    if constexpr (kHasGain<Gain>) g = hn::Mul(g, gain(part, d, i, g));
    part.store(hn::Mul(g, r), d, dx + i);
  });
}

template <class C>
struct Products {
  const C* a;
  const C* b;
  template <class Part, class D, class V>
  HWY_INLINE void operator()(Part part, D d, std::size_t i, V (&sum)[1]) const {
    sum[0] = fma(part.load(d, a + i), part.load(d, b + i), sum[0]);
  }
};

/// The terms of a row whose xhat is known.
template <class C>
HWY_NOINLINE void segment_terms(const C* dy, const C* xhat, std::size_t n, std::size_t segment,
                                double* dgamma, double* dbeta) {
  for (std::size_t k = 0, i = 0; i < n; ++k, i += segment) {
    double total[1];
    Products<C> products{dy + i, xhat + i};
    reduce<C, 1>(products, segment, total);
    dgamma[k] = total[0];
    Sum<C> sum{dy + i};
    reduce<C, 1>(sum, segment, total);
    dbeta[k] = total[0];
  }
}

/// dgamma += dy * xhat, dbeta += dy; both in scratch memory.
template <class C>
HWY_NOINLINE void add_terms(const C* dy, const C* xhat, std::size_t n, C* dgamma, C* dbeta) {
  const Full<C> d;
  for_each_vector<C>(n, [=](auto part, std::size_t i) HWY_ATTR {
    const auto dyv = part.load(d, dy + i);
    const auto term = part.load(d, xhat + i);
    hn::Store(fma(dyv, term, hn::Load(d, dgamma + i)), d, dgamma + i);
    hn::Store(hn::Add(hn::Load(d, dbeta + i), dyv), d, dbeta + i);
  });
}

template <class C>
HWY_NOINLINE void fill_row(C value, std::size_t n, C* to) {
  const Full<C> d;
  for (std::size_t i = 0; i < n; i += kCount<Full<C>>) hn::Store(hn::Set(d, value), d, to + i);
}

/// sum += v in f64.
template <class C>
HWY_NOINLINE void add_row(const C* v, std::size_t n, double* sum) {
  const Full<double> d;
  for_each_vector<double>(n, [=](auto part, std::size_t i) HWY_ATTR {
    hn::Store(hn::Add(hn::Load(d, sum + i), part.load(d, v + i)), d, sum + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();
#endif
