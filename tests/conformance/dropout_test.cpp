// Dropout keeps what its probability says, streams of different seeds and offsets have nothing to
// do with each other, and Philox gives the known answers of its paper.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "equinorm/fused_norm.hpp"
#include "kernels/dropout.h"
#include "reference/philox.hpp"

namespace equinorm::conformance {
namespace {

TEST(Philox, GivesTheKnownAnswersOfItsPaper) {
  struct Known {
    kernels::Words counter;
    std::array<std::uint32_t, 2> key;
    kernels::Words result;
  };
  const std::uint32_t f = 0xffffffff;
  for (const Known& k :
       {Known{{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        Known{{f, f, f, f}, {f, f}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        Known{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
              {0xa4093822, 0x299f31d0},
              {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}}) {
    EXPECT_EQ(kernels::philox(k.counter, k.key), k.result);
    EXPECT_EQ(reference::philox(k.counter, k.key), k.result);
  }
}

// What dropout makes of ones, through the public interface.
std::vector<float> mask_of(const Dropout& dropout, std::int64_t rows, std::int64_t cols) {
  const std::vector<float> ones(static_cast<std::size_t>(rows * cols), 1);
  std::vector<float> stream(ones.size()), y(ones.size());
  FusedNormForward a;
  a.x = {ones.data(), DType::f32, rows, cols, cols};
  a.dropout = dropout;
  a.stream = {stream.data(), DType::f32, rows, cols, cols};
  a.y = {y.data(), DType::f32, rows, cols, cols};
  Context context;
  check(fused_norm_forward(a, context));
  return stream;
}

TEST(FusedDropout, KeepsAsManyAsItsProbabilitySaysWithinFiveSigma) {
  const std::int64_t rows = 1000, cols = 777;
  const double n = static_cast<double>(rows * cols);
  for (const double p : {0.1, 0.25, 0.5, 0.9}) {
    for (const std::uint64_t seed : {0ull, 1ull, 0xffffffffffffffffull}) {
      const std::vector<float> mask = mask_of({p, seed, 5}, rows, cols);
      double kept = 0;
      for (const float v : mask) {
        EXPECT_TRUE(v == 0 || v == static_cast<float>(1 / (1 - p)));
        kept += v != 0 ? 1 : 0;
      }
      EXPECT_LE(std::abs(kept - n * (1 - p)), 5 * std::sqrt(n * p * (1 - p))) << p;
    }
  }
}

TEST(FusedDropout, DrawsIndependentStreamsForSeedsOffsetsAndRows) {
  const std::int64_t rows = 64, cols = 4096;
  const std::vector<float> a = mask_of({0.5, 3, 10}, rows, cols);
  EXPECT_EQ(a, mask_of({0.5, 3, 10}, rows, cols)) << "replayed by seed and offset";
  const auto agreements = [&](const std::vector<float>& p, const std::vector<float>& q,
                              std::size_t shift) {
    double same = 0;
    for (std::size_t i = 0; i + shift < p.size(); ++i) same += p[i] == q[i + shift] ? 1 : 0;
    const auto n = static_cast<double>(p.size() - shift);
    return std::abs(same - n / 2) / std::sqrt(n / 4);
  };
  EXPECT_LE(agreements(a, mask_of({0.5, 3, 11}, rows, cols), 0), 5);
  EXPECT_LE(agreements(a, mask_of({0.5, 4, 10}, rows, cols), 0), 5);
  EXPECT_LE(agreements(a, mask_of({0.5, 3, std::uint64_t{10} << 32}, rows, cols), 0), 5);
  for (const std::size_t shift : {1, 4, 64, 4096}) EXPECT_LE(agreements(a, a, shift), 5) << shift;
}

TEST(FusedDropout, HasTheSameMaskBackwardAndDropsWhateverXHolds) {
  const std::int64_t rows = 9, cols = 301;
  const Dropout dropout{0.3, 99, 7};
  const std::vector<float> mask = mask_of(dropout, rows, cols);
  std::vector<float> dy(mask.size(), 0), dstream(mask.size(), 2), stream(mask.size(), 1),
      dx(mask.size()), dresidual(mask.size());
  const auto view = [&](auto& v) { return Rows{v.data(), DType::f32, rows, cols, cols}; };
  FusedNormBackward b;
  b.dy = view(dy);
  b.dstream = view(dstream);
  b.stream = view(stream);
  b.dropout = dropout;
  b.dx = view(dx);
  b.dresidual = view(dresidual);
  Context context;
  check(fused_norm_backward(b, context));
  for (std::size_t i = 0; i < dx.size(); ++i) {
    EXPECT_EQ(dresidual[i], 2);
    EXPECT_EQ(dx[i], 2 * mask[i]);
  }
  std::vector<float> x(mask.size(), 1), y(mask.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (mask[i] == 0) x[i] = std::nanf("");
  }
  FusedNormForward f;
  f.x = view(x);
  f.dropout = dropout;
  f.y = view(y);
  check(fused_norm_forward(f, context));
  for (const float v : y) EXPECT_TRUE(std::isfinite(v));
}

}  // namespace
}  // namespace equinorm::conformance
