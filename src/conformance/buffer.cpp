// Buffers with guards.
#include "conformance/buffer.hpp"

#include <cstring>

#include "reference/numbers.hpp"

namespace equinorm::conformance {

constexpr std::int64_t kAlignment = 64;

Buffer::Buffer(DType type, std::int64_t rows, std::int64_t cols, const Layout& layout)
    : type_(type), rows_(rows), cols_(cols) {
  const auto size = static_cast<std::int64_t>(size_of(type));
  const std::int64_t pitch = cols + layout.gap;
  stride_ = layout.reversed ? -pitch : pitch;
  const std::int64_t body = rows * pitch * size;
  bytes_.assign(static_cast<std::size_t>(3 * kAlignment + layout.offset * size + body), 0xff);
  const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
  const auto lead = static_cast<std::int64_t>(kAlignment - address % kAlignment);
  first_ = lead + layout.offset * size;
  if (layout.reversed && rows > 0) first_ += (rows - 1) * pitch * size;
}

std::int64_t Buffer::element(std::int64_t r, std::int64_t c) const {
  return first_ + (r * stride_ + c) * static_cast<std::int64_t>(size_of(type_));
}

Rows Buffer::rows() { return {bytes_.data() + first_, type_, rows_, cols_, stride_}; }

Vector Buffer::vector() { return {bytes_.data() + first_, type_, cols_}; }

void Buffer::set(std::span<const double> values) {
  std::size_t i = 0;
  for (std::int64_t r = 0; r < rows_; ++r) {
    for (std::int64_t c = 0; c < cols_; ++c) {
      reference::store(bytes_.data() + element(r, c), type_, 0, values[i++]);
    }
  }
}

std::vector<std::uint64_t> Buffer::bits() const {
  std::vector<std::uint64_t> result;
  result.reserve(static_cast<std::size_t>(rows_ * cols_));
  for (std::int64_t r = 0; r < rows_; ++r) {
    for (std::int64_t c = 0; c < cols_; ++c) {
      std::uint64_t v = 0;  // little-endian, as all targets are
      std::memcpy(&v, bytes_.data() + element(r, c), size_of(type_));
      result.push_back(v);
    }
  }
  return result;
}

bool Buffer::guards_intact() const {
  std::vector<std::uint8_t> copy = bytes_;
  const std::size_t row_bytes = static_cast<std::size_t>(cols_) * size_of(type_);
  for (std::int64_t r = 0; r < rows_ && cols_ > 0; ++r) {
    std::memset(copy.data() + element(r, 0), 0xff, row_bytes);
  }
  for (const std::uint8_t v : copy) {
    if (v != 0xff) return false;
  }
  return true;
}

}  // namespace equinorm::conformance
