#include "dtype_buffer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "command.hpp"

namespace equinorm::cli {
namespace {

struct Format {
  int precision;     // bits of the significand, the hidden one included
  int min_exponent;  // of the smallest normal value
  double max;
};

Format format_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::f64:
      return {53, -1022, std::numeric_limits<double>::max()};
    case DType::f32:
      return {24, -126, std::numeric_limits<float>::max()};
    case DType::f16:
      return {11, -14, 65504.0};
    case DType::bf16:
      return {8, -126, 0x1.FEp127};
  }
  return {};
}

// `value` is already a value of the format.
std::uint16_t encode_half(double value) noexcept {
  if (std::isnan(value)) return 0x7e00;
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  if (std::isinf(size)) return sign | 0x7c00;
  if (size < 0x1p-14) return sign | static_cast<std::uint16_t>(size * 0x1p24);
  const int exponent = std::ilogb(size);
  const auto fraction = static_cast<std::uint16_t>(std::scalbn(size, 10 - exponent) - 1024);
  return sign | static_cast<std::uint16_t>((exponent + 15) << 10) | fraction;
}

double decode_half(std::uint16_t bits) noexcept {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double size = 0;
  if (exponent == 0) {
    size = fraction * 0x1p-24;
  } else if (exponent == 31) {
    size = fraction == 0 ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  } else {
    size = std::scalbn(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -size : size;
}

template <typename T>
void put(std::vector<std::uint64_t>& words, std::size_t index, T value) noexcept {
  std::memcpy(reinterpret_cast<char*>(words.data()) + index * sizeof(T), &value, sizeof(T));
}

template <typename T>
T get(const std::vector<std::uint64_t>& words, std::size_t index) noexcept {
  T value;
  std::memcpy(&value, reinterpret_cast<const char*>(words.data()) + index * sizeof(T), sizeof(T));
  return value;
}

}  // namespace

DType parse_dtype(const std::string& text) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    if (text == name_of(dtype)) return dtype;
  }
  throw UsageError("--dtype: '" + text + "' is not one of f64, f32, f16, bf16");
}

double largest(DType dtype) noexcept { return format_of(dtype).max; }

double round_to(DType dtype, double value) noexcept {
  if (!std::isfinite(value) || value == 0 || dtype == DType::f64) return value;
  const Format format = format_of(dtype);
  const int unit = std::max(std::ilogb(value), format.min_exponent) - (format.precision - 1);
  const double rounded = std::scalbn(std::nearbyint(std::scalbn(value, -unit)), unit);
  if (std::fabs(rounded) <= format.max) return rounded;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

DTypeBuffer::DTypeBuffer(DType dtype, std::size_t size)
    : dtype_(dtype), size_(size), words_((size * size_of(dtype) + 7) / 8) {}

DTypeBuffer::DTypeBuffer(DType dtype, std::span<const double> values)
    : DTypeBuffer(dtype, values.size()) {
  for (std::size_t i = 0; i < size_; ++i) {
    const double value = round_to(dtype, values[i]);
    if (dtype == DType::f64) put(words_, i, value);
    if (dtype == DType::f32) put(words_, i, static_cast<float>(value));
    if (dtype == DType::f16) put(words_, i, encode_half(value));
    if (dtype == DType::bf16) {
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
      put(words_, i, static_cast<std::uint16_t>(bits >> 16));
    }
  }
}

std::vector<double> DTypeBuffer::values() const {
  std::vector<double> result(size_);
  for (std::size_t i = 0; i < size_; ++i) {
    if (dtype_ == DType::f64) result[i] = get<double>(words_, i);
    if (dtype_ == DType::f32) result[i] = static_cast<double>(get<float>(words_, i));
    if (dtype_ == DType::f16) result[i] = decode_half(get<std::uint16_t>(words_, i));
    if (dtype_ == DType::bf16) {
      const std::uint32_t bits = std::uint32_t{get<std::uint16_t>(words_, i)} << 16;
      result[i] = static_cast<double>(std::bit_cast<float>(bits));
    }
  }
  return result;
}

Rows DTypeBuffer::row() noexcept {
  const auto cols = static_cast<std::int64_t>(size_);
  return {words_.data(), dtype_, 1, cols, cols};
}

Vector DTypeBuffer::vector() noexcept {
  return {words_.data(), dtype_, static_cast<std::int64_t>(size_)};
}

}  // namespace equinorm::cli
