// Vectors as the kernels use them: fused multiply-add on every target, NaN in one spelling.
// Memory is in convert-inl.h.
//
// Included once per target by foreach_target. The trap: Highway's MulAdd is not fused on the
// portable target; use fma and fnma instead.
#if defined(EQUINORM_KERNELS_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUINORM_KERNELS_SIMD_INL_H_
#undef EQUINORM_KERNELS_SIMD_INL_H_
#else
#define EQUINORM_KERNELS_SIMD_INL_H_
#endif

#include <cmath>

#include "hwy/highway.h"
#include "kernel_types.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#undef EQUINORM_X86_VECTORS
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
#define EQUINORM_X86_VECTORS 1
#else
#define EQUINORM_X86_VECTORS 0
#endif

template <class C>
using Full = hn::ScalableTag<C>;
template <class D>
inline constexpr std::size_t kCount = hn::MaxLanes(D());

/// a * b + c with one rounding.
template <class V>
HWY_INLINE V fma(V a, V b, V c) {
#if HWY_TARGET == HWY_EMU128
  for (std::size_t i = 0; i < sizeof(a.raw) / sizeof(a.raw[0]); ++i) {
    c.raw[i] = std::fma(a.raw[i], b.raw[i], c.raw[i]);
  }
  return c;
#else
  return hn::MulAdd(a, b, c);
#endif
}

/// c - a * b with one rounding.
template <class V>
HWY_INLINE V fnma(V a, V b, V c) {
#if HWY_TARGET == HWY_EMU128
  return fma(hn::Neg(a), b, c);
#else
  return hn::NegMulAdd(a, b, c);
#endif
}

/// The quiet NaN with sign 0 and no payload.
template <class D>
HWY_INLINE hn::Vec<D> canonical_nan(D d) {
  using Bits = hn::Rebind<hwy::MakeUnsigned<hn::TFromD<D>>, D>;
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::BitCast(d, hn::Set(Bits(), 0x7fc00000u));
  } else {
    return hn::BitCast(d, hn::Set(Bits(), 0x7ff8000000000000u));
  }
}

template <class D, class V>
HWY_INLINE V canonicalize(D d, V v) {
  return hn::IfThenElse(hn::IsNaN(v), canonical_nan(d), v);
}

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();
#endif
