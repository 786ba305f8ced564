// Reading and comparing exact values: Value, units and errors of equinorm::truth.
#include <algorithm>
#include <cmath>
#include <limits>

#include "equinorm/reference.hpp"

namespace equinorm::truth {
namespace {

struct Range {
  int precision;     // bits of the significand
  int min_exponent;  // of the smallest normal number
  int max_exponent;  // of the largest finite number
};

Range range_of(DType type) {
  switch (type) {
    case DType::f64:
      return {53, -1022, 1023};
    case DType::f32:
      return {24, -126, 127};
    case DType::f16:
      return {11, -14, 15};
    case DType::bf16:
      return {8, -126, 127};
  }
  return {};
}

// Exponents beyond this are as good as 0 or infinity beside any double.
int clamp(std::int64_t exponent) {
  return static_cast<int>(std::clamp<std::int64_t>(exponent, -100000, 100000));
}

// Values at or beyond 2^(max_exponent + 1) count as that power of two.
Value limit(const Value& v, const Range& range) {
  if (std::isinf(v.hi) || (v.hi != 0 && ilogb(v) > range.max_exponent)) {
    return {std::copysign(0.5, v.hi), 0, range.max_exponent + 2};
  }
  return v;
}

}  // namespace

double Value::to_double() const { return std::scalbn(hi + lo, clamp(exponent)); }

std::int64_t ilogb(const Value& v) {
  if (v.hi == 0) return std::numeric_limits<std::int64_t>::min();
  if (!std::isfinite(v.hi)) return std::numeric_limits<std::int64_t>::max();
  const double magnitude = std::abs(v.hi);
  const bool below_power_of_two = magnitude == 0.5 && v.lo != 0 && (v.lo < 0) == (v.hi > 0);
  return v.exponent - 1 - (below_power_of_two ? 1 : 0);
}

Value ulp(const Value& v, DType type) {
  const Range range = range_of(type);
  const std::int64_t e = std::max<std::int64_t>(ilogb(v), range.min_exponent);
  return {0.5, 0, std::int64_t{clamp(e)} - (range.precision - 1) + 1};
}

Value scale_ulp(const Value& scale, DType compute) {
  const Range range = range_of(compute);
  const Value relative = {scale.hi, scale.lo, scale.exponent - (range.precision - 1)};
  const Value spacing = {0.5, 0, std::int64_t{range.min_exponent} - (range.precision - 1) + 1};
  return scale.hi == 0 || relative.exponent < spacing.exponent ? spacing : relative;
}

double error(double computed, DType type, const Value& exact, const Value& unit) {
  if (std::isnan(computed) || std::isnan(exact.hi)) {
    return std::isnan(computed) && std::isnan(exact.hi) ? 0
                                                        : std::numeric_limits<double>::infinity();
  }
  const Range range = range_of(type);
  int exponent = 0;
  const double mantissa = std::frexp(computed, &exponent);
  const Value a = limit({mantissa, 0, exponent}, range);
  const Value b = limit(exact, range);
  // Both at the scale of the larger one: what underflows there is far below lo.
  const std::int64_t common = a.hi == 0   ? b.exponent
                              : b.hi == 0 ? a.exponent
                                          : std::max(a.exponent, b.exponent);
  const double a_hi = std::scalbn(a.hi, clamp(a.exponent - common));
  const double b_hi = std::scalbn(b.hi, clamp(b.exponent - common));
  const double b_lo = std::scalbn(b.lo, clamp(b.exponent - common));
  const double difference = std::abs((a_hi - b_hi) - b_lo) / unit.hi;
  return std::scalbn(difference, clamp(common - unit.exponent));
}

}  // namespace equinorm::truth
