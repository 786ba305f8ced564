#include "dropout.h"

#include <algorithm>

namespace equinorm::kernels {
namespace {

constexpr std::size_t kCounters = 16;  // at once, for the compiler to make vectors of

// Word by word, counters side by side.
struct Block {
  std::uint32_t word[4][kCounters];
};

void rounds(Block& b, std::uint32_t key0, std::uint32_t key1) noexcept {
  for (int round = 0; round < 10; ++round) {
    for (std::size_t j = 0; j < kCounters; ++j) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53} * b.word[0][j];
      const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * b.word[2][j];
      const std::uint32_t w1 = b.word[1][j];
      const std::uint32_t w3 = b.word[3][j];
      b.word[0][j] = static_cast<std::uint32_t>(p1 >> 32) ^ w1 ^ key0;
      b.word[1][j] = static_cast<std::uint32_t>(p1);
      b.word[2][j] = static_cast<std::uint32_t>(p0 >> 32) ^ w3 ^ key1;
      b.word[3][j] = static_cast<std::uint32_t>(p0);
    }
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
}

std::uint32_t low(std::uint64_t v) noexcept { return static_cast<std::uint32_t>(v); }
std::uint32_t high(std::uint64_t v) noexcept { return static_cast<std::uint32_t>(v >> 32); }

template <class C>
void keep(const Dropout& d, std::int64_t first, std::size_t n, C* to) noexcept {
  const C scale = static_cast<C>(d.scale);
  auto counter = static_cast<std::uint64_t>(first) / 4;
  auto skip = static_cast<std::size_t>(first) % 4;
  for (std::size_t done = 0; done < n; counter += kCounters, skip = 0) {
    Block b;
    for (std::size_t j = 0; j < kCounters; ++j) {
      b.word[0][j] = low(d.offset);
      b.word[1][j] = high(d.offset);
      b.word[2][j] = low(counter + j);
      b.word[3][j] = high(counter + j);
    }
    rounds(b, low(d.seed), high(d.seed));
    C kept[4 * kCounters];
    for (std::size_t j = 0; j < kCounters; ++j) {
      for (std::size_t k = 0; k < 4; ++k) {
        kept[4 * j + k] = b.word[k][j] >= d.threshold ? scale : C{0};
      }
    }
    const std::size_t count = std::min(n - done, 4 * kCounters - skip);
    std::copy_n(kept + skip, count, to + done);
    done += count;
  }
}

}  // namespace

Words philox(Words counter, std::array<std::uint32_t, 2> key) noexcept {
  Block b;
  for (std::size_t k = 0; k < 4; ++k) std::fill_n(b.word[k], kCounters, counter[k]);
  rounds(b, key[0], key[1]);
  return {b.word[0][0], b.word[1][0], b.word[2][0], b.word[3][0]};
}

void keep_row(const Dropout& dropout, std::int64_t first, std::size_t n, float* to) noexcept {
  keep(dropout, first, n, to);
}
void keep_row(const Dropout& dropout, std::int64_t first, std::size_t n, double* to) noexcept {
  keep(dropout, first, n, to);
}

}  // namespace equinorm::kernels
