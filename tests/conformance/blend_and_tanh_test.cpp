// BlendedLayerNorm and DyT: special values, gradients, and truth to the stated bounds by long
// double arithmetic written out here. Bits and bounds by both oracles are in operators_test.cpp.
#include <gtest/gtest.h>

#include <cmath>

#include "conformance/alpha.hpp"
#include "equinorm/blended_norm.hpp"
#include "equinorm/dynamic_tanh.hpp"
#include "reference/numbers.hpp"

namespace equinorm::conformance {
namespace {

TEST(DynamicTanh, IsWithinTheStatedBoundsOfLongDouble) {
  std::vector<double> x;
  for (double v = 1e-310; v < 1e300; v *= 1.7) x.insert(x.end(), {v, -v});
  for (double v = -45; v < 45; v += 0.003) x.push_back(v);
  x.insert(x.end(), {0, -0.0, HUGE_VAL, -HUGE_VAL});
  const auto n = std::ssize(x);
  std::vector<double> y(x.size()), dx(x.size()), dy(x.size(), -1.25), gamma(x.size(), 0.75),
      beta(x.size(), 0.1);
  const double alpha = 0.5;
  const auto rows = [n](auto& v) { return Rows{v.data(), DType::f64, 1, n, n}; };
  const auto vector = [n](auto& v) { return Vector{v.data(), DType::f64, n}; };
  Context context;
  check(dynamic_tanh_forward(
      {rows(x), {&alpha, DType::f64, 1}, vector(gamma), vector(beta), rows(y)}, context));
  check(dynamic_tanh_backward(
      {rows(dy), rows(x), {&alpha, DType::f64, 1}, vector(gamma), rows(dx), {}, {}, {}}, context));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double t = std::tanh(0.5L * x[i]);
    const long double c = std::cosh(0.5L * std::min(std::abs(x[i]), 1e4));
    EXPECT_LE(std::abs(y[i] - (0.75L * t + 0.1L)), 0x1p-53L + 0x1p-50L * (0.75L + 0.1L)) << x[i];
    EXPECT_LE(std::abs(dx[i] - 0.5L * -1.25L * 0.75L / (c * c)), 0x1p-50L * 0.5L * 1.25L * 0.75L)
        << x[i];
  }
  EXPECT_EQ(y[x.size() - 2], 0.75 + beta[0]);
}

TEST(DynamicTanh, LetsHugeInputsAddNothingToTheGradientOfAlpha) {
  Context context;
  for (const float huge : {1e5f, 1e30f, 3e38f}) {
    const float x[] = {huge, 1}, dy[] = {1, 1}, alpha = 0.5f;
    double dalpha = -1;
    check(dynamic_tanh_backward({{dy, DType::f32, 1, 2, 2},
                                 {x, DType::f32, 1, 2, 2},
                                 {&alpha, DType::f32, 1},
                                 {},
                                 {},
                                 {&dalpha, DType::f64, 1},
                                 {},
                                 {}},
                                context));
    const double c = std::cosh(0.5);
    EXPECT_NEAR(dalpha, 1 / (c * c), 1e-15) << huge;
  }
}

TEST(BlendedNorm, IsTheNormAtAlphaOneAndItsInputAtZero) {
  const AlphaProblem c = alpha_problem(32, Direction::forward, DType::f32, DType::f32);
  for (const double value : {0.0, 1.0}) {
    AlphaArena a(c);
    a.alpha.set(std::vector<double>{value});
    auto forward = a.forward<BlendedNormForward>(false);
    std::vector<float> plain(static_cast<std::size_t>(c.rows * c.cols));
    Context context;
    forward.y = {plain.data(), DType::f32, c.rows, c.cols, c.cols};
    check(blended_norm_forward(forward, context));
    std::vector<float> want(plain.size());
    if (value == 1) {
      check(row_norm_forward({forward.form,
                              forward.x,
                              forward.gamma,
                              forward.beta,
                              {want.data(), DType::f32, c.rows, c.cols, c.cols}},
                             context));
    } else {
      const std::vector<std::uint64_t> bits = a.x.bits();
      for (std::size_t i = 0; i < want.size(); ++i) {
        want[i] = static_cast<float>(reference::load(&bits[i], c.x, 0));
      }
    }
    EXPECT_EQ(plain, want) << value;
  }
}

TEST(BlendedNorm, HasTheGradientsOfItsFormula) {
  const std::int64_t n = 7;
  std::vector<double> x = {0.3, -1.2, 2.5, 0.7, -0.4, 1.9, -2.2}, gamma = {1, 2, -1, 0.5, 1, 3, 1},
                      beta = {0.1, 0, 0.3, -0.2, 0, 0, 1}, dy = {1, -2, 0.5, 0.25, 3, -1, 2};
  double alpha = 0.7;
  const auto rows = [n](auto& v) { return Rows{v.data(), DType::f64, 1, n, n}; };
  const auto vector = [](auto& v) { return Vector{v.data(), DType::f64, n}; };
  Context context;
  const auto loss = [&] {
    std::vector<double> y(x.size());
    check(blended_norm_forward(
        {{}, rows(x), {&alpha, DType::f64, 1}, vector(gamma), vector(beta), rows(y)}, context));
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += dy[i] * y[i];
    return sum;
  };
  std::vector<double> dx(x.size()), dgamma(x.size()), dbeta(x.size());
  double dalpha = 0;
  check(blended_norm_backward({{},
                               rows(dy),
                               rows(x),
                               {&alpha, DType::f64, 1},
                               vector(gamma),
                               vector(beta),
                               rows(dx),
                               {&dalpha, DType::f64, 1},
                               vector(dgamma),
                               vector(dbeta)},
                              context));
  const auto numeric = [&](double& value) {
    const double at = value, h = 1e-5;
    value = at + h;
    const double above = loss();
    value = at - h;
    const double below = loss();
    value = at;
    return (above - below) / (2 * h);
  };
  EXPECT_NEAR(dalpha, numeric(alpha), 1e-8);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(dx[i], numeric(x[i]), 1e-8);
    EXPECT_NEAR(dgamma[i], numeric(gamma[i]), 1e-8);
    EXPECT_NEAR(dbeta[i], numeric(beta[i]), 1e-8);
  }
}

}  // namespace
}  // namespace equinorm::conformance
