// The backward pass against what calculus says: finite differences of the forward pass in f64, and
// identities that hold for the exact gradient.
#include <functional>

#include "conformance/random.hpp"
#include "example.hpp"

namespace equinorm::conformance {
namespace {

constexpr std::int64_t kRows = 3;
constexpr std::int64_t kCols = 17;
constexpr double kEps = 1e-3;

std::vector<double> normal(std::int64_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values(static_cast<std::size_t>(n));
  for (double& v : values) v = 0.5 + random.normal();
  return values;
}

Example forward_example(Op op) {
  Example e = example(op, DType::f64, normal(kRows * kCols, 1), kEps, kRows);
  return with_affine(e, normal(kCols, 2),
                     op == Op::layer_norm ? normal(kCols, 3) : std::vector<double>{});
}

Outputs run(const Example& e) {
  Context context;
  Execution execution;
  execution.isa = available_isas().back();
  Call call(e.problem, e.inputs, execution);
  check(call.run(context));
  return call.outputs();
}

// sum(dy * y), whose gradients are dx, dgamma and dbeta.
double loss(const Example& e, const std::vector<double>& dy) {
  const std::vector<double> y = numbers(run(e).y, DType::f64);
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += dy[i] * y[i];
  return sum;
}

// Five-point differences at step h: error h^4 f5 / 30 + 1.5 u |terms| / h, with h = 2^-10, f5 below
// 10^4 here (derivatives of the root grow by 1 / sqrt(eps)) and 51 terms below 100: under 1e-8.
void expect_derivative(const std::function<std::vector<double>&(Example&)>& input,
                       const std::vector<double>& gradient, Op op) {
  const std::vector<double> dy = normal(kRows * kCols, 4);
  constexpr double h = 0x1p-10;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const auto at = [&](double step) {
      Example e = forward_example(op);
      input(e)[i] += step;
      return loss(e, dy);
    };
    const double slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
    EXPECT_NEAR(gradient[i], slope, 1e-8) << i;
  }
}

TEST(Gradient, IsTheFiniteDifferenceOfTheForwardPass) {
  for (const Op op : kBothOps) {
    Example e = backward(forward_example(op), normal(kRows * kCols, 4));
    const Outputs outputs = run(e);
    const auto as_numbers = [](const std::vector<std::uint64_t>& v) {
      return numbers(v, DType::f64);
    };
    expect_derivative([](Example& x) -> std::vector<double>& { return x.inputs.x; },
                      as_numbers(outputs.dx), op);
    expect_derivative([](Example& x) -> std::vector<double>& { return x.inputs.gamma; },
                      as_numbers(outputs.dgamma), op);
    if (op == Op::rms_norm) continue;
    expect_derivative([](Example& x) -> std::vector<double>& { return x.inputs.beta; },
                      as_numbers(outputs.dbeta), op);
  }
}

// u = 2^-53; every sum below has at most 17 terms of at most 10, each good to a few u.
constexpr double kTolerance = 17 * 10 * 8 * 0x1p-53;

TEST(Gradient, OfLayerNormHasNoMean) {
  Example e = backward(forward_example(Op::layer_norm), normal(kRows * kCols, 4));
  const std::vector<double> dx = numbers(run(e).dx, DType::f64);
  for (std::int64_t r = 0; r < kRows; ++r) {
    double sum = 0;
    for (std::int64_t c = 0; c < kCols; ++c) sum += dx[static_cast<std::size_t>(r * kCols + c)];
    EXPECT_NEAR(sum, 0, kTolerance);
  }
}

// <dx, xhat> = rstd sum(g xhat) eps / (v + eps), v the variance or the mean square.
TEST(Gradient, AlongXhatIsWhatEpsLeaves) {
  for (const Op op : kBothOps) {
    Example plain = example(op, DType::f64, normal(kCols, 1), kEps);
    const std::vector<double> xhat = numbers(run(plain).y, DType::f64);
    const std::vector<double> dy = normal(kCols, 4);
    const std::vector<double> dx = numbers(run(backward(plain, dy)).dx, DType::f64);
    const Outputs saved = expected(plain.problem, plain.inputs);
    const double rstd = numbers(saved.rstd, DType::f64)[0];
    double along = 0;
    double projection = 0;
    for (std::size_t i = 0; i < xhat.size(); ++i) {
      along += dx[i] * xhat[i];
      projection += dy[i] * xhat[i];
    }
    EXPECT_NEAR(along, rstd * projection * kEps * rstd * rstd, kTolerance);
  }
}

TEST(LayerNorm, IgnoresAShiftAndScalesWithEps) {
  const std::vector<double> x = rounded(normal(kCols, 1), DType::bf16);  // so that x + 64 is exact
  const auto y = [](std::vector<double> v, double eps, Op op) {
    return run(example(op, DType::f64, std::move(v), eps)).y;
  };
  std::vector<double> shifted = x;
  std::vector<double> doubled = x;
  for (double& v : shifted) v += 64;
  for (double& v : doubled) v *= 2;
  const auto a = numbers(y(x, kEps, Op::layer_norm), DType::f64);
  const auto b = numbers(y(shifted, kEps, Op::layer_norm), DType::f64);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 6 * 0x1p-52 * 4);
  // A power of two changes no rounding: equal bits.
  for (const Op op : kBothOps) EXPECT_EQ(y(x, 0x1p-10, op), y(doubled, 0x1p-8, op));
  EXPECT_NE(y(x, kEps, Op::rms_norm), y(shifted, kEps, Op::rms_norm));
}

TEST(Gradient, FallsAsOneOverTheScaleOfX) {
  for (const Op op : kBothOps) {
    std::vector<double> x = normal(kCols, 1);
    const std::vector<double> dy = normal(kCols, 4);
    const auto dx = numbers(run(backward(example(op, DType::f64, x, 0), dy)).dx, DType::f64);
    for (double& v : x) v *= 1024;
    const auto scaled = numbers(run(backward(example(op, DType::f64, x, 0), dy)).dx, DType::f64);
    for (std::size_t i = 0; i < dx.size(); ++i) EXPECT_EQ(dx[i], 1024 * scaled[i]);
  }
}

}  // namespace
}  // namespace equinorm::conformance
