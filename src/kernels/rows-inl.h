// Whole rows between storage types and the compute type.
//
// The trap: a widened row lives in scratch memory, which is rounded up to whole vectors; the
// elements past the row are undefined and never enter a result.
#if defined(EQUINORM_KERNELS_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUINORM_KERNELS_ROWS_INL_H_
#undef EQUINORM_KERNELS_ROWS_INL_H_
#else
#define EQUINORM_KERNELS_ROWS_INL_H_
#endif

#include "convert-inl.h"
#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

/// Calls body(part, i) for each whole vector of C, then for what is left of n; part.load and
/// part.store touch as many elements.
template <class C, class Body>
HWY_INLINE void for_each_vector(std::size_t n, Body body) {
  constexpr std::size_t kN = kCount<Full<C>>;
  std::size_t i = 0;
  for (; i + kN <= n; i += kN) body(Whole(), i);
  if (i < n) body(First{n - i}, i);
}

/// What a pass over a row that writes results knows about memory: the kInputs rows that will be
/// read next, to be fetched ahead, and whether the results are too large to stay in cache.
struct Upcoming {
  const char* row = nullptr;
  std::size_t step = 0;  ///< bytes per element
};
template <int kInputs>
struct Passage {
  Upcoming next[kInputs];
  bool stream = false;
};

/// for_each_vector for a pass that writes to `out`.
template <class C, class T, int kInputs, class Body>
HWY_INLINE void for_each_vector(std::size_t n, const Passage<kInputs>& passage, const T* out,
                                Body body) {
  constexpr std::size_t kN = kCount<Full<C>>;
  const auto fetch = [&passage](std::size_t i) HWY_ATTR {
    for (const auto& next : passage.next) hwy::Prefetch(next.row + i * next.step);
  };
  std::size_t i = 0;
  if constexpr (std::is_same_v<T, C>) {
    if (passage.stream && reinterpret_cast<std::uintptr_t>(out) % (kN * sizeof(C)) == 0) {
      for (; i + kN <= n; i += kN) {
        fetch(i);
        body(Streaming(), i);
      }
    }
  }
  for (; i + kN <= n; i += kN) {
    fetch(i);
    body(Whole(), i);
  }
  if (i < n) body(First{n - i}, i);
}

/// to[i] = from[i], exactly.
template <class T, class C>
HWY_NOINLINE void widen_row(const T* from, std::size_t n, C* to) {
  const Full<C> d;
  for_each_vector<C>(
      n, [=](auto part, std::size_t i) HWY_ATTR { hn::Store(part.load(d, from + i), d, to + i); });
}

/// to[i] = from[i], rounded.
template <class C, class T>
HWY_NOINLINE void narrow_row(const C* from, std::size_t n, T* to) {
  const Full<C> d;
  for_each_vector<C>(
      n, [=](auto part, std::size_t i) HWY_ATTR { part.store(hn::Load(d, from + i), d, to + i); });
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

/// A row of T as a row of C: itself where the types agree, else a copy in `scratch`.
template <class C, class T>
HWY_INLINE const C* row_in(const T* row, std::size_t n, C* scratch) {
  if constexpr (std::is_same_v<T, C>) {
    return row;
  } else {
    widen_row(row, n, scratch);
    return scratch;
  }
}

/// The same for the row that begins `offset` elements of `type` after `rows`.
template <class C>
HWY_INLINE const C* row_in(const void* rows, Type type, std::int64_t offset, std::size_t n,
                           C* scratch) {
  switch (type) {
    case Type::f64:
      // Rows of f64 are computed in f64.
      if constexpr (sizeof(C) == 8) return static_cast<const double*>(rows) + offset;
      break;
    case Type::f32:
      return row_in(static_cast<const float*>(rows) + offset, n, scratch);
    case Type::f16:
      return row_in(static_cast<const F16*>(rows) + offset, n, scratch);
    case Type::bf16:
      return row_in(static_cast<const BF16*>(rows) + offset, n, scratch);
  }
  return nullptr;
}

/// Row `r` of rows of `type`, to be fetched ahead.
HWY_INLINE auto upcoming(const void* rows, Type type, std::int64_t r, std::int64_t stride) {
  const std::size_t step = type == Type::f64 ? 8 : type == Type::f32 ? 4 : 2;
  const std::int64_t bytes = r * stride * static_cast<std::int64_t>(step);
  return Upcoming{static_cast<const char*>(rows) + bytes, step};
}

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();
#endif
