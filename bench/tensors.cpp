#include "tensors.hpp"

#include <bit>
#include <cstring>
#include <new>
#include <random>

namespace equinorm::bench {
namespace {

constexpr std::align_val_t kAlignment{64};

// Exact for the values made here: at most 7 significant bits, 0 or at least 2^-5.
std::uint16_t half_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000;
  const std::uint32_t magnitude = bits & 0x7fffffff;
  const std::uint32_t rebiased = magnitude == 0 ? 0 : (magnitude - (112u << 23)) >> 13;
  return static_cast<std::uint16_t>(sign | rebiased);
}

void store(std::byte* at, DType dtype, float value) {
  if (dtype == DType::f64) {
    const double wide = value;
    std::memcpy(at, &wide, sizeof wide);
  } else if (dtype == DType::f32) {
    std::memcpy(at, &value, sizeof value);
  } else {
    const auto upper = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
    const std::uint16_t narrow = dtype == DType::bf16 ? upper : half_of(value);
    std::memcpy(at, &narrow, sizeof narrow);
  }
}

Buffer random_values(std::int64_t count, DType dtype, std::uint32_t seed) {
  const std::size_t size = size_of(dtype);
  Buffer buffer(static_cast<std::size_t>(count) * size);
  std::mt19937 random(seed);
  for (std::int64_t i = 0; i < count; ++i) {
    // Four uniform numbers in [0, 63]: bell-shaped, within [-126, 126].
    const std::uint32_t r = random();
    const int sum = static_cast<int>((r & 63) + (r >> 6 & 63) + (r >> 12 & 63) + (r >> 18 & 63));
    store(buffer.data() + i * size, dtype, static_cast<float>(sum - 126) / 32);
  }
  return buffer;
}

}  // namespace

Buffer::Buffer(std::size_t bytes)
    : memory_(static_cast<std::byte*>(::operator new(bytes, kAlignment))), bytes_(bytes) {}

void Buffer::Free::operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }

Tensors make_tensors(const Case& c) {
  const std::int64_t count = c.rows * c.cols;
  return {random_values(count, c.dtype, 1), random_values(count, c.dtype, 2),
          random_values(c.cols, c.dtype, 3), random_values(c.cols, c.dtype, 4)};
}

}  // namespace equinorm::bench
