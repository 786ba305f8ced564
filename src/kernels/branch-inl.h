// The residual stream around a norm: h = residual + gate * dropout(x) before it, and what the
// gradient of h is for each of them.
//
// The trap: a dropped element is 0 whatever x holds there, a NaN included.
#if defined(EQUINORM_KERNELS_BRANCH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUINORM_KERNELS_BRANCH_INL_H_
#undef EQUINORM_KERNELS_BRANCH_INL_H_
#else
#define EQUINORM_KERNELS_BRANCH_INL_H_
#endif

#include "rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

/// Scale or 0 per element of a row; null without dropout.
template <class C>
HWY_INLINE const C* kept_row(const Dropout& dropout, std::int64_t r, std::size_t n, C* scratch) {
  if (!dropout.on) return nullptr;
  keep_row(dropout, r * static_cast<std::int64_t>(n), n, scratch);
  return scratch;
}

/// v * kept, 0 where that is 0.
template <class D, class V>
HWY_INLINE V where_kept(D d, V v, V kept) {
  return hn::IfThenElseZero(hn::Ne(kept, hn::Zero(d)), hn::Mul(v, kept));
}

/// h = fma(gate, b, residual), b = x * kept; without gate b + residual, without residual gate * b.
template <class C>
HWY_NOINLINE void add_branch(const C* x, const C* kept, const C* gate, const C* residual,
                             std::size_t n, C* h) {
  const Full<C> d;
  for_each_vector<C>(n, [=](auto part, std::size_t i) HWY_ATTR {
    auto v = part.load(d, x + i);
    if (kept != nullptr) v = where_kept(d, v, part.load(d, kept + i));
    if (gate != nullptr && residual != nullptr) {
      v = fma(part.load(d, gate + i), v, part.load(d, residual + i));
    } else if (gate != nullptr) {
      v = hn::Mul(part.load(d, gate + i), v);
    } else if (residual != nullptr) {
      v = hn::Add(v, part.load(d, residual + i));
    }
    part.store(v, d, h + i);
  });
}

/// y = fma(alpha, y, (1 - alpha) * x).
template <class S>
HWY_NOINLINE void blend_row(const S* x, S alpha, std::size_t n, S* y) {
  const Full<S> d;
  const auto a = hn::Set(d, alpha);
  const auto rest = hn::Set(d, 1 - alpha);
  for_each_vector<S>(n, [=](auto part, std::size_t i) HWY_ATTR {
    hn::Store(fma(a, hn::Load(d, y + i), hn::Mul(rest, part.load(d, x + i))), d, y + i);
  });
}

/// to = fma(factor, from, to).
template <class S>
HWY_NOINLINE void add_scaled_row(S factor, const S* from, std::size_t n, S* to) {
  const Full<S> d;
  const auto f = hn::Set(d, factor);
  for_each_vector<S>(n, [=](auto part, std::size_t i) HWY_ATTR {
    hn::Store(fma(f, part.load(d, from + i), hn::Load(d, to + i)), d, to + i);
  });
}

/// to += from.
template <class S>
HWY_NOINLINE void add_to_row(const S* from, std::size_t n, S* to) {
  const Full<S> d;
  for_each_vector<S>(n, [=](auto part, std::size_t i) HWY_ATTR {
    hn::Store(hn::Add(hn::Load(d, to + i), part.load(d, from + i)), d, to + i);
  });
}

/// to = (d * gate) * kept.
template <class S>
HWY_NOINLINE void branch_gradient(const S* gradient, const S* gate, const S* kept, std::size_t n,
                                  S* to) {
  const Full<S> d;
  for_each_vector<S>(n, [=](auto part, std::size_t i) HWY_ATTR {
    auto v = part.load(d, gradient + i);
    if (gate != nullptr) v = hn::Mul(v, part.load(d, gate + i));
    if (kept != nullptr) v = where_kept(d, v, part.load(d, kept + i));
    hn::Store(v, d, to + i);
  });
}

/// sum = fma(a, b, sum).
HWY_INLINE void add_products(const double* a, const double* b, std::size_t n, double* sum) {
  const Full<double> d;
  for_each_vector<double>(n, [=](auto part, std::size_t i) HWY_ATTR {
    hn::Store(fma(part.load(d, a + i), part.load(d, b + i), hn::Load(d, sum + i)), d, sum + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();
#endif
