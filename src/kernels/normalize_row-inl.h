// y of one row of the compute type, once its statistics are known.
//
// The trap: y may be x itself, so an element is read before it is written and never again.
#if defined(EQUINORM_KERNELS_NORMALIZE_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUINORM_KERNELS_NORMALIZE_ROW_INL_H_
#undef EQUINORM_KERNELS_NORMALIZE_ROW_INL_H_
#else
#define EQUINORM_KERNELS_NORMALIZE_ROW_INL_H_
#endif

#include "rows-inl.h"
#include "statistics-inl.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

/// y = xhat, xhat * gain, xhat + beta or fma(xhat, gain, beta).
template <bool kCentered, bool kGain, bool kBeta, class C, class TY>
HWY_NOINLINE void normalize_row(const C* x, std::size_t n, const RowStatistics<C>& statistics,
                                const C* gain, const C* beta, TY* y,
                                const Passage<1>& passage = {}) {
  const Full<C> d;
  const Normalizer<kCentered, C> xhat_of(statistics);
  for_each_vector<C>(n, passage, y, [=](auto part, std::size_t i) HWY_ATTR {
    auto v = xhat_of(part.load(d, x + i));
    if constexpr (kGain && kBeta) {
      v = fma(v, part.load(d, gain + i), part.load(d, beta + i));
    } else if constexpr (kGain) {
      v = hn::Mul(v, part.load(d, gain + i));
    } else if constexpr (kBeta) {
      v = hn::Add(v, part.load(d, beta + i));
    }
    part.store(v, d, y + i);
  });
}

template <bool kCentered, class C, class TY>
HWY_INLINE void normalize_row(const C* x, std::size_t n, const RowStatistics<C>& statistics,
                              const C* gain, const C* beta, TY* y, const Passage<1>& passage = {}) {
  if constexpr (kCentered) {
    if (beta != nullptr) {
      return gain != nullptr
                 ? normalize_row<true, true, true>(x, n, statistics, gain, beta, y, passage)
                 : normalize_row<true, false, true>(x, n, statistics, gain, beta, y, passage);
    }
  }
  return gain != nullptr
             ? normalize_row<kCentered, true, false>(x, n, statistics, gain, beta, y, passage)
             : normalize_row<kCentered, false, false>(x, n, statistics, gain, beta, y, passage);
}

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();
#endif
