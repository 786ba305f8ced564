// The row reduction R: section 2 of docs/numerics.md.
//
// The one trap: the order of additions is the contract. It is the order of the virtual lanes, which
// no real vector width changes.
#pragma once

#include <array>
#include <cstdint>

namespace equinorm::reference {

/// V, the number of virtual lanes.
template <class C>
inline constexpr int kLanes = 256 / sizeof(C);

template <class C>
using Lanes = std::array<C, kLanes<C>>;

/// Step 2: lanes of segment `index` of a row of `cols` elements. step(acc, i) returns acc with
/// element i added, as acc + v[i] or as fma(a[i], b[i], acc).
template <class C, class Step>
Lanes<C> segment_lanes(std::int64_t index, std::int64_t cols, const Step& step) {
  constexpr std::int64_t kSegment = 8 * kLanes<C>;
  const std::int64_t begin = index * kSegment;
  const std::int64_t end = begin + kSegment < cols ? begin + kSegment : cols;
  Lanes<C> lanes{};
  for (std::int64_t i = begin; i < end; ++i) {
    C& lane = lanes[i % kLanes<C>];
    lane = step(lane, i);
  }
  return lanes;
}

/// Step 3: tree over `count` segments from `first` on.
template <class C, class Step>
Lanes<C> tree_lanes(std::int64_t first, std::int64_t count, std::int64_t cols, const Step& step) {
  if (count == 1) return segment_lanes<C>(first, cols, step);
  std::int64_t p = 1;
  while (2 * p < count) p *= 2;
  Lanes<C> left = tree_lanes<C>(first, p, cols, step);
  const Lanes<C> right = tree_lanes<C>(first + p, count - p, cols, step);
  for (int lane = 0; lane < kLanes<C>; ++lane) left[lane] = left[lane] + right[lane];
  return left;
}

/// R over `cols` elements.
template <class C, class Step>
double reduce(std::int64_t cols, const Step& step) {
  if (cols == 0) return 0;
  constexpr std::int64_t kSegment = 8 * kLanes<C>;
  const std::int64_t segments = (cols + kSegment - 1) / kSegment;
  const Lanes<C> lanes = tree_lanes<C>(0, segments, cols, step);
  std::array<double, kLanes<C>> folded;  // step 4
  for (int j = 0; j < kLanes<C>; ++j) folded[j] = lanes[j];
  for (int half = kLanes<C> / 2; half >= 1; half /= 2) {
    for (int j = 0; j < half; ++j) folded[j] = folded[j] + folded[j + half];
  }
  return folded[0];
}

}  // namespace equinorm::reference
