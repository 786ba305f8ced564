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

/// exp(2|z|) - 1, for |z| beyond 40 as at 40.
template <class V>
HWY_INLINE V expm1_of_twice(V z) {
  const Full<double> d;
  const hn::RebindToUnsigned<Full<double>> du;
  const V a = hn::Min(hn::Add(hn::Abs(z), hn::Abs(z)), hn::Set(d, 80.0));
  // k = a / ln 2 rounded, found in the low bits of a sum with 1.5 * 2^52.
  const V magic = hn::Set(d, 0x1.8p52);
  const V sum = fma(a, hn::Set(d, kLog2E), magic);
  const V k = hn::Sub(sum, magic);
  const V r = fnma(k, hn::Set(d, kLn2Low), fnma(k, hn::Set(d, kLn2High), a));
  V q = hn::Set(d, kExpm1[kExpm1Terms - 1]);
  for (int i = kExpm1Terms - 2; i >= 0; --i) q = fma(q, r, hn::Set(d, kExpm1[i]));
  const V p = fma(hn::Mul(r, r), q, r);
  const V power = hn::BitCast(
      d, hn::ShiftLeft<52>(hn::Add(hn::BitCast(du, sum), hn::Set(du, std::uint64_t{1023}))));
  return fma(power, p, hn::Sub(power, hn::Set(d, 1.0)));
}

/// tanh z, e that of z.
template <class V>
HWY_INLINE V tanh_from(V z, V e) {
  const Full<double> d;
  const V t = hn::Div(e, hn::Add(e, hn::Set(d, 2.0)));
  return hn::IfThenElse(hn::IsNaN(z), z, hn::CopySign(t, z));
}

/// The derivative of tanh at z.
template <class V>
HWY_INLINE V tanh_slope_from(V z, V e) {
  const Full<double> d;
  const V w = hn::Add(e, hn::Set(d, 2.0));
  const V s = hn::Div(hn::Div(hn::Mul(hn::Set(d, 4.0), hn::Add(e, hn::Set(d, 1.0))), w), w);
  return hn::IfThenElse(hn::IsNaN(z), z, s);
}

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();
#endif
