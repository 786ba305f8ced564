// tanh of vectors of f64, the same bits on every instruction set (docs/numerics.md section 11).
//
// From e = exp(2|z|) - 1, so that neither small nor large arguments cancel. The trap: the
// derivative comes from e, not from 1 - tanh^2.
#if defined(EQUINORM_KERNELS_TANH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUINORM_KERNELS_TANH_INL_H_
#undef EQUINORM_KERNELS_TANH_INL_H_
#else
#define EQUINORM_KERNELS_TANH_INL_H_
#endif

#include "simd-inl.h"
#include "tanh_constants.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

/// Of exp(-2|z|): the number itself, and less 1.
template <class V>
struct Decay {
  V value;
  V less_one;
};

template <class V>
HWY_INLINE Decay<V> decay_of(V z) {
  const Full<double> d;
  const hn::RebindToUnsigned<Full<double>> du;
  const V a = hn::Min(hn::Add(hn::Abs(z), hn::Abs(z)), hn::Set(d, 1400.0));
  // k = a / ln 2 rounded, found in the low bits of a sum with 1.5 * 2^52.
  const V magic = hn::Set(d, 0x1.8p52);
  const V sum = fma(a, hn::Set(d, kLog2E), magic);
  const V k = hn::Sub(sum, magic);
  const V r = fma(k, hn::Set(d, kLn2Low), fma(k, hn::Set(d, kLn2High), hn::Neg(a)));
  V q = hn::Set(d, kExpm1[kExpm1Terms - 1]);
  for (int i = kExpm1Terms - 2; i >= 0; --i) q = fma(q, r, hn::Set(d, kExpm1[i]));
  const V p = fma(hn::Mul(r, r), q, r);
  // 2^-k in two factors, as it may be below the smallest normal number.
  const auto steps = hn::And(hn::BitCast(du, sum), hn::Set(du, std::uint64_t{4095}));
  const auto half = hn::ShiftRight<1>(steps);
  const auto power = [&](auto exponent) HWY_ATTR {
    const auto biased = hn::Sub(hn::Set(du, std::uint64_t{1023}), exponent);
    return hn::BitCast(d, hn::ShiftLeft<52>(biased));
  };
  const V first = power(half);
  const V second = power(hn::Sub(steps, half));
  const V both = hn::Mul(first, second);
  const V one = hn::Set(d, 1.0);
  return {hn::Mul(hn::Mul(hn::Add(one, p), first), second), fma(both, p, hn::Sub(both, one))};
}

/// tanh z.
template <class V>
HWY_INLINE V tanh_from(V z, const Decay<V>& e) {
  const Full<double> d;
  const V t = hn::Div(hn::Neg(e.less_one), hn::Add(e.less_one, hn::Set(d, 2.0)));
  return hn::IfThenElse(hn::IsNaN(z), z, hn::CopySign(t, z));
}

/// The derivative of tanh at z.
template <class V>
HWY_INLINE V tanh_slope_from(V z, const Decay<V>& e) {
  const Full<double> d;
  const V w = hn::Add(hn::Set(d, 1.0), e.value);
  const V s = hn::Div(hn::Div(hn::Mul(hn::Set(d, 4.0), e.value), w), w);
  return hn::IfThenElse(hn::IsNaN(z), z, s);
}

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();
#endif
