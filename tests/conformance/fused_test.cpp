// What the fused operators fuse is what the operators do one after the other, and 8 bits hold the
// nearest number. Bits and bounds are in operators_test.cpp.
#include <gtest/gtest.h>

#include <cmath>

#include "conformance/random.hpp"
#include "equinorm/fused_norm.hpp"
#include "equinorm/layer_norm.hpp"
#include "reference/quantize.hpp"

namespace equinorm::conformance {
namespace {

TEST(FusedNorm, IsTheOperatorsOneAfterTheOther) {
  const std::int64_t rows = 20, cols = 130;
  Random random(5);
  const auto numbers = [&](std::int64_t count) {
    std::vector<float> v(static_cast<std::size_t>(count));
    for (float& x : v) x = static_cast<float>(random.normal());
    return v;
  };
  std::vector<float> x = numbers(rows * cols), residual = numbers(rows * cols),
                     gamma = numbers(cols), beta = numbers(cols), dy = numbers(rows * cols),
                     dstream = numbers(rows * cols), zeros(x.size());
  std::vector<float> h(zeros), y(zeros), sum(zeros), y2(zeros), d(zeros), d2(zeros), dg(gamma),
      dg2(gamma);
  const auto view = [&](auto& v) { return Rows{v.data(), DType::f32, rows, cols, cols}; };
  const auto vector = [&](auto& v) { return Vector{v.data(), DType::f32, cols}; };
  Context context;
  FusedNormForward f;
  f.x = view(x);
  f.residual = view(residual);
  f.parameters.gamma = vector(gamma);
  f.parameters.beta = vector(beta);
  f.stream = view(h);
  f.y = view(y);
  check(fused_norm_forward(f, context));
  for (std::size_t i = 0; i < x.size(); ++i) sum[i] = x[i] + residual[i];
  check(layer_norm_forward({view(sum), vector(gamma), vector(beta), 1e-5, view(y2), {}}, context));
  EXPECT_EQ(h, sum);
  EXPECT_EQ(y, y2);
  FusedNormBackward b;
  b.dy = view(dy);
  b.dstream = view(dstream);
  b.stream = view(h);
  b.parameters.gamma = vector(gamma);
  b.dresidual = view(d);
  b.dgamma = vector(dg);
  check(fused_norm_backward(b, context));
  check(layer_norm_backward({view(dy), view(h), vector(gamma), 1e-5, {}, view(d2), vector(dg2), {}},
                            context));
  for (std::size_t i = 0; i < d2.size(); ++i) d2[i] += dstream[i];
  EXPECT_EQ(d, d2);
  EXPECT_EQ(dg, dg2);
}

TEST(Quantization, RoundsToTheNearestNumberOfTheRow) {
  const std::int64_t rows = 3, cols = 500;
  std::vector<float> x(rows * cols), y(x.size());
  Random random(8);
  for (float& v : x) v = static_cast<float>(random.normal());
  for (std::int64_t c = 0; c < cols; ++c) x[2 * cols + c] = std::nanf("");
  std::vector<std::uint8_t> bytes(x.size());
  std::vector<float> scale(rows);
  Context context;
  FusedNormForward f;
  f.x = {x.data(), DType::f32, rows, cols, cols};
  f.y = {y.data(), DType::f32, rows, cols, cols};
  check(fused_norm_forward(f, context));
  for (const Quantization kind : {Quantization::int8_per_row, Quantization::fp8_e4m3_per_row}) {
    f.y = {};
    f.quantized = {bytes.data(), kind, rows, cols, cols, {scale.data(), DType::f32, rows}, 0};
    check(fused_norm_forward(f, context));
    for (std::int64_t i = 0; i < 2 * cols; ++i) {
      const double s = scale[static_cast<std::size_t>(i / cols)], v = y[i];
      if (kind == Quantization::int8_per_row) {
        EXPECT_LE(std::abs(static_cast<std::int8_t>(bytes[i]) * s - v), (0.5 + 0x1p-20) * s);
      } else {
        const double got = reference::e4m3_value(bytes[i] & 0x7f) * (bytes[i] > 127 ? -s : s);
        EXPECT_LE(std::abs(got - v), std::abs(v) / 16 + (0x1p-10 + 0x1p-20) * s);
      }
    }
    EXPECT_TRUE(std::isnan(scale[2]));
    EXPECT_EQ(bytes[2 * cols], kind == Quantization::int8_per_row ? 0 : 0x7f);
  }
}

}  // namespace
}  // namespace equinorm::conformance
