// Loads that widen to the compute type and stores that round to the storage type, one vector at a
// time: load(d, p), store(v, d, p), and the same for the first `count` elements.
//
// Not for parameters of whole calls: widen_row in rows-inl.h does rows. The trap: rounding f64 to
// 16 bits by way of f32 rounds twice, so f64 goes to f32 "to odd" first.
#if defined(EQUINORM_KERNELS_CONVERT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUINORM_KERNELS_CONVERT_INL_H_
#undef EQUINORM_KERNELS_CONVERT_INL_H_
#else
#define EQUINORM_KERNELS_CONVERT_INL_H_
#endif

#include <cstring>
#include <type_traits>

#include "simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

template <class D>
using F32Of = hn::Rebind<float, D>;
template <class D>
using U32Of = hn::Rebind<std::uint32_t, D>;
template <class D>
using I32Of = hn::Rebind<std::int32_t, D>;
template <class D>
using U16Of = hn::Rebind<std::uint16_t, D>;

/// Words of a 16-bit buffer. T is F16 or BF16, which hold nothing else.
template <class T>
HWY_INLINE const std::uint16_t* words(const T* p) {
  return reinterpret_cast<const std::uint16_t*>(p);
}
template <class T>
HWY_INLINE std::uint16_t* words(T* p) {
  return reinterpret_cast<std::uint16_t*>(p);
}

// ---- 16 bits to f32 -----------------------------------------------------------------------------

template <class D, class V16>
HWY_INLINE hn::Vec<D> f32_from_bf16(D d, V16 bits) {
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(U32Of<D>(), bits)));
}

template <class D, class V16>
HWY_INLINE hn::Vec<D> f32_from_f16(D d, V16 bits) {
#if EQUINORM_X86_VECTORS
  return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), bits));
#else
  const U32Of<D> du;
  const I32Of<D> di;
  const auto word = hn::PromoteTo(du, bits);
  const auto sign = hn::ShiftLeft<16>(hn::And(word, hn::Set(du, 0x8000u)));
  const auto exponent = hn::And(word, hn::Set(du, 0x7c00u));
  const auto magnitude = hn::And(word, hn::Set(du, 0x7fffu));
  const auto normal = hn::Add(hn::ShiftLeft<13>(magnitude), hn::Set(du, 112u << 23));
  const auto tiny = hn::Mul(hn::ConvertTo(d, hn::BitCast(di, magnitude)), hn::Set(d, 0x1p-24f));
  const auto special = hn::Or(hn::ShiftLeft<13>(magnitude), hn::Set(du, 0x7f800000u));
  auto result = hn::IfThenElse(hn::Eq(exponent, hn::Zero(du)), hn::BitCast(du, tiny), normal);
  result = hn::IfThenElse(hn::Eq(exponent, hn::Set(du, 0x7c00u)), special, result);
  return hn::BitCast(d, hn::Or(result, sign));
#endif
}

// ---- f32 to 16 bits, nearest even ---------------------------------------------------------------

template <class D>
HWY_INLINE auto bf16_from_f32(D d, hn::Vec<D> v) {
  const U32Of<D> du;
  const auto bits = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fffu))));
  const auto nan = hn::RebindMask(du, hn::IsNaN(v));
  const auto word = hn::IfThenElse(nan, hn::Set(du, 0x7fc0u), rounded);
  (void)d;
  return hn::DemoteTo(U16Of<D>(), hn::BitCast(I32Of<D>(), word));
}

template <class D>
HWY_INLINE auto f16_from_f32(D d, hn::Vec<D> v) {
#if EQUINORM_X86_VECTORS
  const hn::Rebind<hwy::float16_t, D> dh;
  return hn::BitCast(U16Of<D>(), hn::DemoteTo(dh, canonicalize(d, v)));
#else
  const U32Of<D> du;
  const auto bits = hn::BitCast(du, v);
  const auto sign = hn::And(bits, hn::Set(du, 0x80000000u));
  const auto magnitude = hn::Xor(bits, sign);
  // Below 2^-14 the sum with 0.5 rounds at the weight of the smallest f16 subnormal.
  const auto half = hn::Set(d, 0.5f);
  const auto tiny =
      hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(d, magnitude), half)), hn::BitCast(du, half));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1u));
  const auto rebiased = hn::Sub(magnitude, hn::Set(du, 112u << 23));
  const auto normal = hn::ShiftRight<13>(hn::Add(rebiased, hn::Add(odd, hn::Set(du, 0xfffu))));
  const I32Of<D> di;
  const auto less = [&](auto a, std::uint32_t b) HWY_ATTR {
    return hn::RebindMask(du, hn::Lt(hn::BitCast(di, a), hn::Set(di, static_cast<int>(b))));
  };
  auto word = hn::IfThenElse(less(magnitude, 113u << 23), tiny, normal);
  word = hn::IfThenElse(less(magnitude, 0x477ff000u), word, hn::Set(du, 0x7c00u));
  word = hn::Or(word, hn::ShiftRight<16>(sign));
  word = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), hn::Set(du, 0x7e00u), word);
  return hn::DemoteTo(U16Of<D>(), hn::BitCast(di, word));
#endif
}

// ---- f64 to f32 ---------------------------------------------------------------------------------

/// Nearest even; Highway's portable DemoteTo clamps infinities.
template <class D>
HWY_INLINE hn::Vec<F32Of<D>> f32_from_f64(D d, hn::Vec<D> v) {
  const F32Of<D> df;
#if HWY_TARGET == HWY_EMU128
  double from[kCount<D>];
  float to[kCount<D>];
  hn::StoreU(v, d, from);
  for (std::size_t i = 0; i < kCount<D>; ++i) to[i] = static_cast<float>(from[i]);
  return hn::LoadU(df, to);
#else
  (void)d;
  return hn::DemoteTo(df, v);
#endif
}

/// Rounds to odd: inexact results take the neighbour whose last bit is 1, so a later rounding to
/// fewer bits equals one rounding of the f64 value.
template <class D>
HWY_INLINE hn::Vec<F32Of<D>> f32_from_f64_to_odd(D d, hn::Vec<D> v) {
  const F32Of<D> df;
  const I32Of<D> di;
  const auto nearest = f32_from_f64(d, v);
  const auto back = hn::PromoteTo(d, nearest);
  const auto one = hn::Set(d, 1.0);
  const auto away = hn::IfThenElseZero(hn::Gt(hn::Abs(back), hn::Abs(v)), one);
  const auto inexact = hn::IfThenElseZero(hn::Ne(back, v), one);
  const auto truncated = hn::Sub(hn::BitCast(di, nearest), hn::DemoteTo(di, away));
  return hn::BitCast(df, hn::Or(truncated, hn::DemoteTo(di, inexact)));
}

// ---- vectors in memory --------------------------------------------------------------------------

/// Widens a vector of T to the compute type of d.
template <class D, class T>
HWY_INLINE hn::Vec<D> load(D d, const T* p) {
  using C = hn::TFromD<D>;
  if constexpr (std::is_same_v<T, C>) {
    return hn::LoadU(d, p);
  } else if constexpr (sizeof(C) == 8) {
    return hn::PromoteTo(d, load(F32Of<D>(), p));
  } else if constexpr (std::is_same_v<T, BF16>) {
    return f32_from_bf16(d, hn::LoadU(U16Of<D>(), words(p)));
  } else {
    return f32_from_f16(d, hn::LoadU(U16Of<D>(), words(p)));
  }
}

template <class D, class T>
HWY_INLINE hn::Vec<D> load(D d, const T* p, std::size_t count) {
  T buffer[kCount<D>] = {};
#if EQUINORM_X86_VECTORS
  // Masked loads of whole words don't touch what they skip; Highway's do elsewhere.
  if constexpr (std::is_same_v<T, hn::TFromD<D>>) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, p);
  }
#endif
  std::memcpy(buffer, p, count * sizeof(T));
  return load(d, buffer);
}

/// Rounds a vector to T. Every NaN becomes the canonical one.
template <class D, class T>
HWY_INLINE void store(hn::Vec<D> v, D d, T* p) {
  using C = hn::TFromD<D>;
  if constexpr (std::is_same_v<T, C>) {
    hn::StoreU(canonicalize(d, v), d, p);
  } else if constexpr (sizeof(C) == 8 && std::is_same_v<T, float>) {
    const F32Of<D> df;
    hn::StoreU(canonicalize(df, f32_from_f64(d, v)), df, p);
  } else if constexpr (sizeof(C) == 8) {
    store(f32_from_f64_to_odd(d, v), F32Of<D>(), p);
  } else if constexpr (std::is_same_v<T, BF16>) {
    hn::StoreU(bf16_from_f32(d, v), U16Of<D>(), words(p));
  } else {
    hn::StoreU(f16_from_f32(d, v), U16Of<D>(), words(p));
  }
}

template <class D, class T>
HWY_INLINE void store(hn::Vec<D> v, D d, T* p, std::size_t count) {
  T buffer[kCount<D>];
  store(v, d, buffer);
  std::memcpy(p, buffer, count * sizeof(T));
}

/// How much of a vector is in the row: all of it, or the first elements of a row's last vector.
struct Whole {
  template <class D, class T>
  HWY_INLINE hn::Vec<D> load(D d, const T* p) const {
    return HWY_NAMESPACE::load(d, p);
  }
  template <class D, class T>
  HWY_INLINE void store(hn::Vec<D> v, D d, T* p) const {
    HWY_NAMESPACE::store(v, d, p);
  }
};
/// Whole vectors whose stores go around the caches, to addresses aligned to them.
struct Streaming : Whole {
  template <class D>
  HWY_INLINE void store(hn::Vec<D> v, D d, hn::TFromD<D>* p) const {
    hn::Stream(canonicalize(d, v), d, p);
  }
};
struct First {
  std::size_t count;
  template <class D, class T>
  HWY_INLINE hn::Vec<D> load(D d, const T* p) const {
    return HWY_NAMESPACE::load(d, p, count);
  }
  template <class D, class T>
  HWY_INLINE void store(hn::Vec<D> v, D d, T* p) const {
    HWY_NAMESPACE::store(v, d, p, count);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();
#endif
