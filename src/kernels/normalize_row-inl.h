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

/// What a normalized element is multiplied by: nothing, gamma, or a line through xhat itself.
struct NoGain {};
template <class C>
struct VectorGain {
  const C* gain;
  template <class Part, class D>
  HWY_INLINE hn::Vec<D> operator()(Part part, D d, std::size_t i, hn::Vec<D> /*xhat*/) const {
    return part.load(d, gain + i);
  }
};
template <class C>
struct AdaptiveGain {
  hn::Vec<Full<C>> height, minus_slope;
  HWY_INLINE explicit AdaptiveGain(const Affine& affine)
      : height(hn::Set(Full<C>(), static_cast<C>(affine.height))),
        minus_slope(hn::Set(Full<C>(), -static_cast<C>(affine.slope))) {}
  template <class Part, class D>
  HWY_INLINE hn::Vec<D> operator()(Part /*part*/, D /*d*/, std::size_t /*i*/,
                                   hn::Vec<D> xhat) const {
    return fma(minus_slope, xhat, height);
  }
};
template <class Gain>
inline constexpr bool kHasGain = !std::is_same_v<Gain, NoGain>;

/// Calls f(gain) with the gain of the call; `gain` is the vector in C, or null. Only centred rows
/// have adaptive gains.
template <bool kCentered, class C, class F>
HWY_INLINE auto with_gain(const Affine& affine, const C* gain, F f) {
  if constexpr (kCentered) {
    if (affine.adaptive) return f(AdaptiveGain<C>(affine));
  }
  return gain != nullptr ? f(VectorGain<C>{gain}) : f(NoGain());
}

/// y = xhat, xhat * gain, xhat + beta or fma(xhat, gain, beta).
template <bool kCentered, bool kBeta, class C, class Gain, class TY>
HWY_NOINLINE void write_row(const C* x, std::size_t n, const RowStatistics<C>& statistics,
                            Gain gain, const C* beta, TY* y, const Passage<1>& passage) {
  const Full<C> d;
  const Normalizer<kCentered, C> xhat_of(statistics);
  for_each_vector<C>(n, passage, y, [=](auto part, std::size_t i) HWY_ATTR {
    auto v = xhat_of(part.load(d, x + i));
    if constexpr (kHasGain<Gain> && kBeta) {
      v = fma(v, gain(part, d, i, v), part.load(d, beta + i));
    } else if constexpr (kHasGain<Gain>) {
      v = hn::Mul(v, gain(part, d, i, v));
    } else if constexpr (kBeta) {
      v = hn::Add(v, part.load(d, beta + i));
    }
    part.store(v, d, y + i);
  });
}

template <bool kCentered, class C, class Gain, class TY>
HWY_INLINE void normalize_row(const C* x, std::size_t n, const RowStatistics<C>& statistics,
                              Gain gain, const C* beta, TY* y, const Passage<1>& passage = {}) {
  beta != nullptr ? write_row<kCentered, true>(x, n, statistics, gain, beta, y, passage)
                  : write_row<kCentered, false>(x, n, statistics, gain, beta, y, passage);
}

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();
#endif
