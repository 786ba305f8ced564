// Rows of 8-bit numbers with one scale: section 10 of docs/numerics.md, element by element.
//
// The one trap: e4m3 is found by trying every code, so that nothing is shared with the kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "equinorm/fused_norm.hpp"
#include "numbers.hpp"

namespace equinorm::reference {

/// The value of an e4m3 code without sign; 0x7f is NaN.
inline double e4m3_value(int code) {
  if (code == 0x7f) return std::numeric_limits<double>::quiet_NaN();
  const int exponent = code >> 3;
  const int mantissa = code & 7;
  return exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
}

/// The code nearest to v, ties to the even code; |v| <= 448.
inline std::uint8_t e4m3_code(float v) {
  const double magnitude = std::abs(static_cast<double>(v));
  int best = 0;
  for (int code = 1; code < 0x7f; ++code) {
    const double distance = std::abs(e4m3_value(code) - magnitude);
    const double least = std::abs(e4m3_value(best) - magnitude);
    if (distance < least || (distance == least && code % 2 == 0)) best = code;
  }
  return static_cast<std::uint8_t>(best | (std::signbit(v) ? 0x80 : 0));
}

template <class C>
void quantize_rows(const std::vector<C>& y, const QuantizedRows& to) {
  auto* bytes = static_cast<std::uint8_t*>(to.data);
  for (std::int64_t r = 0; r < to.rows; ++r) {
    const C* row = y.data() + r * to.cols;
    std::uint8_t* out = bytes + r * to.row_stride;
    const bool fp8 = to.kind == Quantization::fp8_e4m3_per_row;
    const bool fixed = to.kind == Quantization::int8_fixed;
    const double most = fp8 ? 448 : 127;
    C largest = 0;
    bool finite = true;
    for (std::int64_t c = 0; c < to.cols; ++c) {
      finite = finite && std::isfinite(row[c]);
      largest = std::max(largest, std::abs(row[c]));
    }
    C scale = static_cast<C>(static_cast<double>(largest) / most);
    if (largest > 0) scale = std::max(scale, std::numeric_limits<C>::min());
    if (!finite) scale = std::numeric_limits<C>::quiet_NaN();
    if (fixed) {
      scale = static_cast<C>(to.fixed_scale);
    } else {
      store(to.scale.data, to.scale.dtype, r, scale);
    }
    for (std::int64_t c = 0; c < to.cols; ++c) {
      if (!fixed && !(scale > 0)) {
        out[c] = fp8 && !finite ? 0x7f : 0;
        continue;
      }
      const C v = row[c] / scale;
      if (fp8) {
        out[c] = e4m3_code(static_cast<float>(std::clamp<C>(v, -448, 448)));
      } else {
        const double low = fixed ? -128 : -127;
        const double q = std::isnan(v) ? -128 : std::nearbyint(std::clamp<double>(v, low, 127));
        out[c] = static_cast<std::uint8_t>(static_cast<std::int8_t>(q));
      }
    }
  }
}

}  // namespace equinorm::reference
