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

// Codes of a row of numbers whose scale is 1: its xhat is +-1, gamma is the numbers, and the first
// is the largest that there is.
std::vector<std::uint8_t> codes_of(const std::vector<float>& numbers, Quantization kind, Isa isa) {
  const auto n = std::ssize(numbers);
  std::vector<float> x(numbers.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 1 : -1;
  std::vector<std::uint8_t> codes(numbers.size());
  float scale = 0;
  FusedNormForward f;
  f.form = {.centered = false, .eps = 0};
  f.x = {x.data(), DType::f32, 1, n, n};
  f.parameters.gamma = {numbers.data(), DType::f32, n};
  f.quantized = {codes.data(), kind, 1, n, n, {&scale, DType::f32, 1}, 1};
  if (kind == Quantization::int8_fixed) f.quantized.scale = {};
  Context context;
  check(context.set_isa(isa));
  check(fused_norm_forward(f, context));
  EXPECT_EQ(scale, kind == Quantization::int8_fixed ? 0 : 1);
  return codes;
}

TEST(Quantization, BreaksTiesToTheEvenCodeOfFp8) {
  // Each midpoint and its neighbours, subnormal numbers included.
  std::vector<float> numbers = {448};
  std::vector<int> want = {0x7e};
  for (int code = 0; code < 0x7e; ++code) {
    const auto middle =
        static_cast<float>((reference::e4m3_value(code) + reference::e4m3_value(code + 1)) / 2);
    numbers.insert(numbers.end(),
                   {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 500.0f)});
    want.insert(want.end(), {code % 2 == 0 ? code : code + 1, code, code + 1});
  }
  for (const Isa isa : available_isas()) {
    const auto codes = codes_of(numbers, Quantization::fp8_e4m3_per_row, isa);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      EXPECT_EQ(codes[i] & 0x7f, want[i]) << numbers[i] << ' ' << name_of(isa);
      EXPECT_EQ(codes[i] >> 7, i % 2) << numbers[i] << " has the sign of x";
    }
  }
}

TEST(Quantization, BreaksTiesToTheEvenIntegerOfInt8) {
  std::vector<float> numbers = {127};
  std::vector<int> want = {127};
  for (int k = 0; k < 127; ++k) {
    const float middle = static_cast<float>(k) + 0.5f;
    numbers.insert(numbers.end(),
                   {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 500.0f)});
    want.insert(want.end(), {k % 2 == 0 ? k : k + 1, k, k + 1});
  }
  for (const Quantization kind : {Quantization::int8_per_row, Quantization::int8_fixed}) {
    for (const Isa isa : available_isas()) {
      const auto codes = codes_of(numbers, kind, isa);
      for (std::size_t i = 0; i < codes.size(); ++i) {
        const int sign = i % 2 == 0 ? 1 : -1;
        EXPECT_EQ(static_cast<std::int8_t>(codes[i]), sign * want[i])
            << numbers[i] << ' ' << name_of(isa);
      }
    }
  }
}

}  // namespace
}  // namespace equinorm::conformance
