// Conversions between storage types and double. Not fast: integer arithmetic that can be checked by
// reading.
#include "numbers.hpp"

#include <bit>
#include <cstring>
#include <limits>

namespace equinorm::reference {
namespace {

struct Format {
  int precision;      // bits of the significand, the hidden one included
  int min_exponent;   // of the smallest normal number
  std::uint16_t inf;  // bits of +infinity
  std::uint16_t nan;  // bits of the canonical NaN
};

constexpr Format kF16 = {11, -14, 0x7c00, 0x7e00};
constexpr Format kBf16 = {8, -126, 0x7f80, 0x7fc0};

double widen_16_bits(std::uint16_t bits, const Format& format) {
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  const int fraction_bits = format.precision - 1;
  const int magnitude = bits & 0x7fff;
  if (magnitude > format.inf) return std::numeric_limits<double>::quiet_NaN();
  if (magnitude == format.inf) return sign * std::numeric_limits<double>::infinity();
  const int exponent = magnitude >> fraction_bits;
  const int fraction = magnitude & ((1 << fraction_bits) - 1);
  const int significand = exponent == 0 ? fraction : fraction | (1 << fraction_bits);
  const int scale = format.min_exponent + (exponent == 0 ? 0 : exponent - 1) - fraction_bits;
  return sign * std::ldexp(significand, scale);
}

// value = significand * 2^(e - 52). Dropping `shift` bits leaves a multiple of the format's
// spacing. The sum below is the encoding: a significand that reaches the next power of two carries
// into the exponent, and past the largest finite number into infinity.
std::uint16_t narrow_16_bits(double value, const Format& format) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 48) & 0x8000);
  const int biased = static_cast<int>((bits >> 52) & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (biased == 0x7ff) return fraction != 0 ? format.nan : sign | format.inf;
  if (biased == 0) return sign;  // zero or below 2^-1022: less than half of any 16-bit number
  const int e = biased - 1023;
  const std::uint64_t significand = fraction | (std::uint64_t{1} << 52);
  const int lowest = e > format.min_exponent ? e : format.min_exponent;
  const int shift = 52 - (format.precision - 1) + (lowest - e);
  std::uint64_t kept = 0;
  if (shift < 64) {
    kept = significand >> shift;
    const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
    const std::uint64_t half = std::uint64_t{1} << (shift - 1);
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  }
  const std::uint64_t encoded =
      (static_cast<std::uint64_t>(lowest - format.min_exponent) << (format.precision - 1)) + kept;
  return sign | (encoded < format.inf ? static_cast<std::uint16_t>(encoded) : format.inf);
}

template <class T>
T read(const void* data, std::int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + index * std::int64_t{sizeof(T)}, sizeof(T));
  return value;
}

template <class T>
void write(void* data, std::int64_t index, T value) {
  std::memcpy(static_cast<char*>(data) + index * std::int64_t{sizeof(T)}, &value, sizeof(T));
}

}  // namespace

double load(const void* data, DType type, std::int64_t index) {
  switch (type) {
    case DType::f64:
      return read<double>(data, index);
    case DType::f32:
      return read<float>(data, index);
    case DType::f16:
      return widen_16_bits(read<std::uint16_t>(data, index), kF16);
    case DType::bf16:
      return widen_16_bits(read<std::uint16_t>(data, index), kBf16);
  }
  return 0;
}

std::uint16_t round_to_16_bits(double value, DType type) {
  return narrow_16_bits(value, type == DType::f16 ? kF16 : kBf16);
}

void store(void* data, DType type, std::int64_t index, double value) {
  switch (type) {
    case DType::f64:
      return write(data, index,
                   std::isnan(value) ? std::bit_cast<double>(std::uint64_t{0x7ff8} << 48) : value);
    case DType::f32:
      return write(data, index,
                   std::isnan(value) ? std::bit_cast<float>(std::uint32_t{0x7fc00000})
                                     : static_cast<float>(value));
    case DType::f16:
    case DType::bf16:
      return write(data, index, round_to_16_bits(value, type));
  }
}

}  // namespace equinorm::reference
