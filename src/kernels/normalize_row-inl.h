// y of one row of the compute type, once its statistics are known.
//
// The trap: y may be x itself, so an element is read before it is written and never again.
#if defined(EQUINORM_KERNELS_NORMALIZE_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUINORM_KERNELS_NORMALIZE_ROW_INL_H_
#undef EQUINORM_KERNELS_NORMALIZE_ROW_INL_H_
#else
#define EQUINORM_KERNELS_NORMALIZE_ROW_INL_H_
#endif

#include "row_parameters-inl.h"
#include "rows-inl.h"
#include "statistics-inl.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

/// What a normalized element is multiplied by: nothing, gamma, one number, or a line through xhat
/// itself.
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
struct UniformGain {
  hn::Vec<Full<C>> gain;
  HWY_INLINE explicit UniformGain(C value) : gain(hn::Set(Full<C>(), value)) {}
  template <class Part, class D>
  HWY_INLINE hn::Vec<D> operator()(Part /*part*/, D /*d*/, std::size_t /*i*/,
                                   hn::Vec<D> /*xhat*/) const {
    return gain;
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

/// What is added: nothing, beta, or one number.
struct NoBeta {};
template <class C>
struct VectorBeta {
  const C* beta;
  template <class Part, class D>
  HWY_INLINE hn::Vec<D> operator()(Part part, D d, std::size_t i) const {
    return part.load(d, beta + i);
  }
};
template <class C>
struct UniformBeta {
  hn::Vec<Full<C>> beta;
  HWY_INLINE explicit UniformBeta(C value) : beta(hn::Set(Full<C>(), value)) {}
  template <class Part, class D>
  HWY_INLINE hn::Vec<D> operator()(Part /*part*/, D /*d*/, std::size_t /*i*/) const {
    return beta;
  }
};
template <class Beta>
inline constexpr bool kHasBeta = !std::is_same_v<Beta, NoBeta>;

/// Calls f(gain) with the gain of a row without segments; `gain` is the vector in C, or null. Only
/// centred rows have adaptive gains.
template <bool kCentered, class C, class F>
HWY_INLINE auto with_gain(const Affine& affine, const C* gain, F f) {
  if constexpr (kCentered) {
    if (affine.adaptive) return f(AdaptiveGain<C>(affine));
  }
  return gain != nullptr ? f(VectorGain<C>{gain}) : f(NoGain());
}

/// y = xhat, xhat * gain, xhat + beta or fma(xhat, gain, beta).
template <bool kCentered, class C, class Gain, class Beta, class TY>
HWY_NOINLINE void write_row(const C* x, std::size_t n, const RowStatistics<C>& statistics,
                            Gain gain, Beta beta, TY* y, const Passage<1>& passage) {
  const Full<C> d;
  const Normalizer<kCentered, C> xhat_of(statistics);
  for_each_vector<C>(n, passage, y, [=](auto part, std::size_t i) HWY_ATTR {
    auto v = xhat_of(part.load(d, x + i));
    if constexpr (kHasGain<Gain> && kHasBeta<Beta>) {
      v = fma(v, gain(part, d, i, v), beta(part, d, i));
    } else if constexpr (kHasGain<Gain>) {
      v = hn::Mul(v, gain(part, d, i, v));
    } else if constexpr (kHasBeta<Beta>) {
      v = hn::Add(v, beta(part, d, i));
    }
    part.store(v, d, y + i);
  });
}

/// xhat of a row.
template <bool kCentered, class C, class TY>
HWY_INLINE void write_xhat(const C* x, std::size_t n, const RowStatistics<C>& statistics, TY* y) {
  write_row<kCentered>(x, n, statistics, NoGain(), NoBeta(), y, {});
}

/// A row whose columns share gain and beta by segments.
template <bool kCentered, class C, class TY>
HWY_NOINLINE void write_segments(const C* x, std::size_t n, const RowStatistics<C>& statistics,
                                 const GainAndBeta<C>& parameters, std::size_t segment, TY* y) {
  for (std::size_t k = 0, i = 0; i < n; ++k, i += segment) {
    const auto write = [&](auto gain, auto beta) HWY_ATTR {
      write_row<kCentered>(x + i, segment, statistics, gain, beta, y + i, {});
    };
    if (parameters.gain != nullptr && parameters.beta != nullptr) {
      write(UniformGain<C>(parameters.gain[k]), UniformBeta<C>(parameters.beta[k]));
    } else if (parameters.gain != nullptr) {
      write(UniformGain<C>(parameters.gain[k]), NoBeta());
    } else if (parameters.beta != nullptr) {
      write(NoGain(), UniformBeta<C>(parameters.beta[k]));
    } else {
      write(NoGain(), NoBeta());
    }
  }
}

template <bool kCentered, class C, class TY>
HWY_INLINE void normalize_row(const C* x, std::size_t n, const RowStatistics<C>& statistics,
                              const Affine& affine, const GainAndBeta<C>& parameters, TY* y,
                              const Passage<1>& passage = {}) {
  if (HWY_UNLIKELY(affine.segment != 0)) {
    return write_segments<kCentered>(x, n, statistics, parameters,
                                     static_cast<std::size_t>(affine.segment), y);
  }
  with_gain<kCentered>(affine, parameters.gain, [&](auto gain) HWY_ATTR {
    parameters.beta != nullptr
        ? write_row<kCentered>(x, n, statistics, gain, VectorBeta<C>{parameters.beta}, y, passage)
        : write_row<kCentered>(x, n, statistics, gain, NoBeta(), y, passage);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();
#endif
