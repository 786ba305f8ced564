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

#include "rows-inl.h"
#include "statistics-inl.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

template <class C>
inline constexpr double kLargestGradient = sizeof(C) == 4 ? 0x1p100 : 0x1p900;
template <class C>
inline constexpr double kSmallestGradient = sizeof(C) == 4 ? 0x1p-100 : 0x1p-900;

/// One row of inputs; gain is null where there is none.
template <class C>
struct GradientRow {
  const C* x;
  const C* dy;
  const C* gain;
  std::size_t n;
};

/// c1 and c2 of the contract.
template <class C>
struct Moments {
  C c1 = 0;
  C c2 = 0;
  bool finite = true;   ///< the sums are
  bool trusted = true;  ///< and max|g| is in range
};

template <bool kCentered, bool kGain, class C>
struct MomentSums {
  static constexpr int kSums = kCentered ? 2 : 1;
  const C* x;
  const C* dy;
  const C* gain;
  Normalizer<kCentered, C> xhat_of;
  hn::Vec<Full<C>> largest;

  template <class Part, class D, class V>
  HWY_INLINE void operator()(Part part, D d, std::size_t i, V (&sum)[kSums]) {
    V g = part.load(d, dy + i);
    if constexpr (kGain) g = hn::Mul(g, part.load(d, gain + i));
    const V xhat = xhat_of(part.load(d, x + i));
    sum[0] = fma(g, xhat, sum[0]);
    if constexpr (kCentered) sum[1] = hn::Add(sum[1], g);
    largest = hn::Max(largest, hn::Abs(g));
  }
};

template <bool kCentered, bool kGain, class C>
HWY_NOINLINE Moments<C> row_moments(const GradientRow<C>& row, const RowStatistics<C>& s) {
  const Full<C> d;
  using Sums = MomentSums<kCentered, kGain, C>;
  Sums sums{row.x, row.dy, row.gain, Normalizer<kCentered, C>(s), hn::Zero(d)};
  double total[Sums::kSums];
  reduce<C, Sums::kSums>(sums, row.n, total);
  const double largest = hn::GetLane(hn::MaxOfLanes(d, sums.largest));
  const double count = static_cast<double>(row.n);
  Moments<C> out;
  out.c2 = static_cast<C>(total[0] / count);
  out.finite = std::isfinite(total[0]);
  if constexpr (kCentered) {
    out.c1 = static_cast<C>(total[1] / count);
    out.finite = out.finite && std::isfinite(total[1]);
  }
  out.trusted = out.finite && (largest == 0 ||
                               (largest >= kSmallestGradient<C> && largest <= kLargestGradient<C>));
  return out;
}

/// dx of a row and, where kSum, its terms added to dgamma and dbeta (the latter only if centered).
template <bool kCentered, bool kGain, bool kSum, class C, class TX>
HWY_NOINLINE void write_gradient(const GradientRow<C>& row, const RowStatistics<C>& s,
                                 const Moments<C>& m, TX* dx, C* dgamma, C* dbeta,
                                 const Passage<2>& passage) {
  const Full<C> d;
  const Normalizer<kCentered, C> xhat_of(s);
  const auto minus_c1 = hn::Set(d, -m.c1);
  const auto c2 = hn::Set(d, m.c2);
  const C* x = row.x;
  const C* dy = row.dy;
  const C* gain = row.gain;
  for_each_vector<C>(row.n, passage, dx, [=](auto part, std::size_t i) HWY_ATTR {
    const auto xhat = xhat_of(part.load(d, x + i));
    const auto dyv = part.load(d, dy + i);
    auto g = dyv;  // minus c1
    if constexpr (kGain) {
      const auto gainv = part.load(d, gain + i);
      g = kCentered ? fma(dyv, gainv, minus_c1) : hn::Mul(dyv, gainv);
    } else if constexpr (kCentered) {
      g = hn::Add(dyv, minus_c1);
    }
    part.store(hn::Mul(fnma(xhat, c2, g), xhat_of.rstd), d, dx + i);
    if constexpr (kSum) {
      hn::Store(fma(dyv, xhat, hn::Load(d, dgamma + i)), d, dgamma + i);
      if constexpr (kCentered) hn::Store(hn::Add(hn::Load(d, dbeta + i), dyv), d, dbeta + i);
    }
  });
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

/// Every element is finite.
template <class C>
HWY_NOINLINE bool row_is_finite(const C* v, std::size_t n) {
  const Full<C> d;
  auto zero_or_nan = hn::Zero(d);
  for_each_vector<C>(n, [&](auto part, std::size_t i) HWY_ATTR {
    const auto element = part.load(d, v + i);
    zero_or_nan = hn::Add(zero_or_nan, hn::Sub(element, element));
  });
  return std::isfinite(hn::GetLane(hn::SumOfLanes(d, zero_or_nan)));
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
