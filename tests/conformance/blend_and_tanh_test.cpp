// BlendedLayerNorm and DyT: the contract oracle's bits on every instruction set, and truth to the
// stated bounds, by long double arithmetic written out here.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "conformance/buffer.hpp"
#include "conformance/matrix.hpp"
#include "equinorm/blended_norm.hpp"
#include "equinorm/dynamic_tanh.hpp"
#include "equinorm/reference.hpp"
#include "reference/numbers.hpp"

namespace equinorm::conformance {
namespace {

struct Case {
  int turn;
  std::int64_t rows, cols;
  DType x, y;
  Family family;

  explicit Case(int number) : turn(number) {
    static constexpr std::int64_t kRows[] = {1, 5, 9, 70, 0};
    static constexpr std::int64_t kCols[] = {1, 3, 33, 64, 257, 600, 0};
    static constexpr DType kTypes[] = {DType::f32, DType::bf16, DType::f16, DType::f64};
    rows = kRows[number % 5];
    cols = kCols[number % 7];
    x = kTypes[number % 4];
    y = kTypes[number / 4 % 4];
    family = all_families()[static_cast<std::size_t>(number) % all_families().size()];
  }
};

// Buffers of either operator.
class Arena {
 public:
  explicit Arena(const Case& c) : c_(c) {
    const Layout layout{c.turn % 2, c.turn % 3, false};
    const auto fill = [&](DType type, std::uint64_t seed, std::int64_t rows, double factor) {
      Problem problem;
      problem.types = {type, type, type, type};
      problem.rows = rows;
      problem.cols = c.cols;
      problem.family = c.family;
      problem.seed = seed + 8 * static_cast<std::uint64_t>(c.turn);
      problem.gamma = problem.beta = false;
      std::vector<double> v = make_inputs(problem).x;
      for (double& value : v) value = rounded(value * factor, type);
      Buffer b(type, rows, c.cols, layout);
      b.set(v);
      return b;
    };
    x = fill(c.x, 1, c.rows, 1);
    dy = fill(c.y, 2, c.rows, 1);
    gamma = fill(DType::f32, 3, 1, 0.5);
    beta = fill(DType::bf16, 4, 1, 0.25);
    alpha = Buffer(DType::f32, 1, 1, {});
    alpha.set(std::vector<double>{rounded(0.5 + 0.17 * (c.turn % 5), DType::f32)});
    y = Buffer(c.y, c.rows, c.cols, layout);
    dx = Buffer(c.x, c.rows, c.cols, layout);
    dalpha = Buffer(DType::f64, 1, 1, {});
    dgamma = Buffer(DType::f32, 1, c.cols, {});
    dbeta = Buffer(DType::bf16, 1, c.cols, {});
  }

  template <class Args>
  Args forward() {
    Args a;
    a.x = x.rows();
    a.alpha = alpha.vector();
    if (c_.turn % 3 != 0) a.gamma = gamma.vector();
    if (c_.turn % 4 != 1) a.beta = beta.vector();
    a.y = y.rows();
    return a;
  }
  template <class Args>
  Args backward() {
    Args a;
    a.dy = dy.rows();
    a.x = x.rows();
    a.alpha = alpha.vector();
    if (c_.turn % 3 != 0) a.gamma = gamma.vector();
    if constexpr (requires { a.beta; }) a.beta = beta.vector();
    a.dx = dx.rows();
    a.dalpha = dalpha.vector();
    a.dgamma = dgamma.vector();
    a.dbeta = dbeta.vector();
    return a;
  }

  [[nodiscard]] std::string difference(const Arena& o) const {
    const std::pair<const char*, Buffer Arena::*> all[] = {
        {"x", &Arena::x},        {"dy", &Arena::dy},         {"gamma", &Arena::gamma},
        {"beta", &Arena::beta},  {"alpha", &Arena::alpha},   {"y", &Arena::y},
        {"dx", &Arena::dx},      {"dalpha", &Arena::dalpha}, {"dgamma", &Arena::dgamma},
        {"dbeta", &Arena::dbeta}};
    for (const auto& [name, buffer] : all) {
      if ((this->*buffer).bits() != (o.*buffer).bits()) return name;
      if (!(this->*buffer).guards_intact()) return std::string("beside ") + name;
    }
    return "";
  }

  static double rounded(double v, DType type) {
    std::uint64_t bits = 0;
    reference::store(&bits, type, 0, v);
    return reference::load(&bits, type, 0);
  }

 private:
  const Case& c_;

 public:
  Buffer x, dy, gamma, beta, alpha, y, dx, dalpha, dgamma, dbeta;
};

using Run = std::function<Status(Arena&, Context&)>;

void expect_equal(const Case& c, Accuracy accuracy, const std::function<void(Arena&)>& reference,
                  const Run& run) {
  Arena want(c);
  reference(want);
  Context context;
  context.set_accuracy(accuracy);
  for (const Isa isa : available_isas()) {
    for (const int threads : {1, 3}) {
      check(context.set_isa(isa));
      check(context.set_threads(threads));
      Arena got(c);
      const Status status = run(got, context);
      ASSERT_TRUE(status.ok()) << describe(status) << " turn " << c.turn;
      ASSERT_EQ(got.difference(want), "") << "turn " << c.turn << ' ' << name_of(isa);
    }
  }
}

int turns() { return scale_from_environment() == Scale::full ? 400 : 60; }

TEST(BlendedNorm, GivesTheContractsBits) {
  for (int turn = 0; turn < turns() && !HasFatalFailure(); ++turn) {
    const Case c(turn);
    const Accuracy accuracy = turn % 9 == 8 ? Accuracy::exact : Accuracy::standard;
    const RowForm form = turn % 2 == 0 ? RowForm{} : RowForm{.centered = false, .eps = 1e-6};
    const auto with_form = [form](auto args) {
      args.form = form;
      return args;
    };
    expect_equal(
        c, accuracy,
        [&](Arena& a) {
          reference::blended_norm_forward(with_form(a.forward<BlendedNormForward>()), accuracy);
          reference::blended_norm_backward(with_form(a.backward<BlendedNormBackward>()), accuracy);
        },
        [&](Arena& a, Context& context) {
          const Status status =
              blended_norm_forward(with_form(a.forward<BlendedNormForward>()), context);
          if (!status.ok()) return status;
          return blended_norm_backward(with_form(a.backward<BlendedNormBackward>()), context);
        });
  }
}

TEST(DynamicTanh, GivesTheContractsBits) {
  for (int turn = 0; turn < turns() && !HasFatalFailure(); ++turn) {
    const Case c(turn);
    expect_equal(
        c, Accuracy::standard,
        [&](Arena& a) {
          reference::dynamic_tanh_forward(a.forward<DynamicTanhForward>());
          reference::dynamic_tanh_backward(a.backward<DynamicTanhBackward>());
        },
        [&](Arena& a, Context& context) {
          const Status status = dynamic_tanh_forward(a.forward<DynamicTanhForward>(), context);
          if (!status.ok()) return status;
          return dynamic_tanh_backward(a.backward<DynamicTanhBackward>(), context);
        });
  }
}

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
  const Case c(32);
  for (const double value : {0.0, 1.0}) {
    Arena a(c);
    a.alpha.set(std::vector<double>{value});
    auto forward = a.forward<BlendedNormForward>();
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
