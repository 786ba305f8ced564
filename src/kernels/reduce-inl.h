// The row reduction R of docs/numerics.md section 2: lanes, segments, tree, fold.
//
// An operation says what one vector of elements adds to its accumulators; this file says in which
// order. The trap: the order is part of the contract. Vector width, unrolling and grouping may
// change, the sequence of additions in each of the V lanes may not.
#if defined(EQUINORM_KERNELS_REDUCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUINORM_KERNELS_REDUCE_INL_H_
#undef EQUINORM_KERNELS_REDUCE_INL_H_
#else
#define EQUINORM_KERNELS_REDUCE_INL_H_
#endif

#include <cstdint>

#include "convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

/// V of the contract, and the elements of a segment.
template <class C>
inline constexpr std::size_t kLanes = 256 / sizeof(C);
inline constexpr std::size_t kSteps = 8;
template <class C>
inline constexpr std::size_t kSegment = kSteps* kLanes<C>;

/// Lanes of kSums sums, in memory between segments.
template <class C, int kSums>
struct Partial {
  alignas(64) C lane[kSums][kLanes<C>];
};

/// Adds `steps` times V elements from `begin` on. Each group of vectors keeps its lanes in
/// registers over all steps: 4 vectors of two sums, or 8 of one, fill AVX2's 16 registers.
template <class C, int kSums, class Op>
HWY_INLINE void add_steps(Op& op, std::size_t begin, std::size_t steps, Partial<C, kSums>& out) {
  const Full<C> d;
  using V = hn::Vec<Full<C>>;
  constexpr std::size_t kN = kCount<Full<C>>;
  constexpr std::size_t kWanted = kSums == 1 ? 8 : 4;
  constexpr std::size_t kGroup = kWanted * kN < kLanes<C> ? kWanted : kLanes<C> / kN;
  for (std::size_t lane = 0; lane < kLanes<C>; lane += kGroup * kN) {
    V sum[kGroup][kSums];
    HWY_UNROLL(8)
    for (auto& of_vector : sum) {
      for (V& s : of_vector) s = hn::Zero(d);
    }
    for (std::size_t step = 0; step < steps; ++step) {
      const std::size_t i = begin + step * kLanes<C> + lane;
      HWY_UNROLL(8)
      for (std::size_t g = 0; g < kGroup; ++g) op(Whole(), d, i + g * kN, sum[g]);
    }
    HWY_UNROLL(8)
    for (std::size_t g = 0; g < kGroup; ++g) {
      for (int k = 0; k < kSums; ++k) hn::Store(sum[g][k], d, out.lane[k] + lane + g * kN);
    }
  }
}

/// Adds the last `count` < V elements of a row, one per lane.
template <class C, int kSums, class Op>
HWY_INLINE void add_rest(Op& op, std::size_t begin, std::size_t count, Partial<C, kSums>& out) {
  const Full<C> d;
  using V = hn::Vec<Full<C>>;
  constexpr std::size_t kN = kCount<Full<C>>;
  for (std::size_t lane = 0; lane < count; lane += kN) {
    V old[kSums], sum[kSums];
    for (int k = 0; k < kSums; ++k) sum[k] = old[k] = hn::Load(d, out.lane[k] + lane);
    if (count - lane >= kN) {
      op(Whole(), d, begin + lane, sum);
    } else {
      // Lanes past the end keep their value: adding a zero could turn -0 into +0.
      const auto inside = hn::FirstN(d, count - lane);
      op(First{count - lane}, d, begin + lane, sum);
      for (int k = 0; k < kSums; ++k) sum[k] = hn::IfThenElse(inside, sum[k], old[k]);
    }
    for (int k = 0; k < kSums; ++k) hn::Store(sum[k], d, out.lane[k] + lane);
  }
}

template <class C, int kSums>
HWY_INLINE void add_lanes(Partial<C, kSums>& to, const Partial<C, kSums>& from) {
  const Full<C> d;
  for (int k = 0; k < kSums; ++k) {
    for (std::size_t i = 0; i < kLanes<C>; i += kCount<Full<C>>) {
      hn::Store(hn::Add(hn::Load(d, to.lane[k] + i), hn::Load(d, from.lane[k] + i)), d,
                to.lane[k] + i);
    }
  }
}

/// Lanes to f64, then halves onto halves.
template <class C>
HWY_INLINE double fold(const C* lane) {
  const Full<double> d;
  constexpr std::size_t kN = kCount<Full<double>>;
  constexpr std::size_t kHalf = kLanes<C> / 2;
  alignas(64) double sum[kHalf];
  HWY_UNROLL(16)
  for (std::size_t i = 0; i < kHalf; i += kN) {
    hn::Store(hn::Add(load(d, lane + i), load(d, lane + i + kHalf)), d, sum + i);
  }
  std::size_t half = kHalf / 2;
  HWY_UNROLL(4)
  for (; half >= kN; half /= 2) {
    HWY_UNROLL(8)
    for (std::size_t i = 0; i < half; i += kN) {
      hn::Store(hn::Add(hn::Load(d, sum + i), hn::Load(d, sum + i + half)), d, sum + i);
    }
  }
  for (; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sum[i] += sum[i + half];
  }
  return sum[0];
}

/// Sums of op over elements [0, n). Segments wait on a stack until their tree is complete: after
/// segment s as many pairs merge as s + 1 has trailing zero bits.
template <class C, int kSums, class Op>
HWY_INLINE void reduce(Op& op, std::size_t n, double (&result)[kSums]) {
  constexpr int kDepth = 44;  // segments of 2 KiB fill 2^55 bytes
  Partial<C, kSums> stack[kDepth];
  int depth = 0;
  std::uint64_t done = 0;
  std::size_t begin = 0;
  do {
    const std::size_t count = n - begin < kSegment<C> ? n - begin : kSegment<C>;
    Partial<C, kSums>& top = stack[depth++];
    const std::size_t rest = count % kLanes<C>;
    add_steps<C, kSums>(op, begin, count / kLanes<C>, top);
    if (rest != 0) add_rest<C, kSums>(op, begin + count - rest, rest, top);
    begin += count;
    for (std::uint64_t pairs = ++done; pairs % 2 == 0; pairs /= 2, --depth) {
      add_lanes(stack[depth - 2], stack[depth - 1]);
    }
  } while (begin < n);
  for (; depth > 1; --depth) add_lanes(stack[depth - 2], stack[depth - 1]);
  for (int k = 0; k < kSums; ++k) result[k] = fold(stack[0].lane[k]);
}

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();
#endif
