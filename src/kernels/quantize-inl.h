// A row of y as 8-bit numbers with one scale: int8, or fp8 of the e4m3 kind without infinities.
//
// The trap: rounding to integers adds and takes away a large number, which is exact in every
// instruction set where Highway's Round need not be.
#if defined(EQUINORM_KERNELS_QUANTIZE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUINORM_KERNELS_QUANTIZE_INL_H_
#undef EQUINORM_KERNELS_QUANTIZE_INL_H_
#else
#define EQUINORM_KERNELS_QUANTIZE_INL_H_
#endif

#include <algorithm>
#include <limits>

#include "rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

/// max|v|; NaN where an element is not finite.
template <class C>
HWY_NOINLINE C largest_magnitude(const C* v, std::size_t n) {
  if (!row_is_finite(v, n)) return std::numeric_limits<C>::quiet_NaN();
  const Full<C> d;
  auto largest = hn::Zero(d);
  for_each_vector<C>(n, [&](auto part, std::size_t i)
                            HWY_ATTR { largest = hn::Max(largest, hn::Abs(part.load(d, v + i))); });
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

/// to = the integer nearest to v / scale, ties to even, between low and high.
template <class C>
HWY_NOINLINE void divide_and_round(const C* v, std::size_t n, C scale, C low, C high, C* to) {
  const Full<C> d;
  const auto s = hn::Set(d, scale);
  const auto shift = hn::Set(d, sizeof(C) == 4 ? C{12582912} : C{6755399441055744});
  for_each_vector<C>(n, [=](auto part, std::size_t i) HWY_ATTR {
    auto q = hn::Div(part.load(d, v + i), s);
    q = hn::Min(hn::Max(q, hn::Set(d, low)), hn::Set(d, high));
    hn::Store(hn::Sub(hn::Add(q, shift), shift), d, to + i);
  });
}

/// The code of the e4m3 number nearest to `v`, ties to even; |v| <= 448.
HWY_INLINE std::uint8_t e4m3_from(float v) {
  std::uint32_t bits;
  std::memcpy(&bits, &v, 4);
  const std::uint32_t sign = bits >> 31 << 7;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  // Below 2^-6 numbers are multiples of 2^-9.
  const float tiny = (std::fabs(v) * 512.0f + 12582912.0f) - 12582912.0f;
  const std::uint32_t rounded = magnitude + 0x7ffffu + (magnitude >> 20 & 1u);
  const std::uint32_t normal = (rounded >> 20) - (120u << 3);
  const bool subnormal = magnitude < 121u << 23;
  return static_cast<std::uint8_t>(sign | (subnormal ? static_cast<std::uint32_t>(tiny) : normal));
}

/// Writes the row and its scale. `row` is overwritten.
template <class C>
HWY_NOINLINE void quantize_row(C* row, std::size_t n, const Quantized& to, std::int64_t r) {
  auto* out = static_cast<std::uint8_t*>(to.data) + to.layout.row(r);
  const bool fp8 = to.kind == Quantization::fp8_e4m3_per_row;
  C scale = static_cast<C>(to.scale);
  C low = -128, high = 127;
  if (to.kind != Quantization::int8_fixed) {
    const double most = fp8 ? 448 : 127;
    const C largest = largest_magnitude(row, n);
    scale = static_cast<C>(static_cast<double>(largest) / most);
    // A subnormal scale has too few digits to divide by.
    if (largest > 0) scale = std::max(scale, std::numeric_limits<C>::min());
    low = static_cast<C>(-most);
    high = static_cast<C>(most);
    static_cast<C*>(to.scales)[r] = scale;
    // No scale, or none that divides: zeros, or for a row that is not finite NaN where there is
    // one.
    if (!(scale > 0)) {
      const bool nan = scale != scale;
      std::memset(out, nan && fp8 ? 0x7f : 0, n);
      return;
    }
  }
  if (fp8) {
    for (std::size_t i = 0; i < n; ++i) {
      const C v = row[i] / scale;
      out[i] = e4m3_from(static_cast<float>(v > high ? high : v < low ? low : v));
    }
    return;
  }
  for (std::size_t i = 0; i < n; ++i) row[i] = row[i] == row[i] ? row[i] : low * scale;
  divide_and_round(row, n, scale, low, high, row);
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = static_cast<std::uint8_t>(static_cast<std::int8_t>(row[i]));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();
#endif
