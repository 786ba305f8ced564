// The reported faults of cases_*_test.cpp, for every operator of their kind: each case's rows go
// through each operator that normalizes rows, in every type, and come back within the stated bounds
// of the truth oracle; constant rows of centred norms give exactly 0.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "conformance/bounds.hpp"
#include "conformance/random.hpp"
#include "every_operator.hpp"
#include "reference/numbers.hpp"

namespace equinorm::conformance {
namespace {

constexpr DType kAllTypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16};

double rounded(double v, DType type) {
  std::uint64_t bits = 0;
  reference::store(&bits, type, 0, v);
  return reference::load(&bits, type, 0);
}

#if EQUINORM_HAS_TRUTH
void expect_bounds(const Operator& op, const Problem2d& p, const Result& got) {
  std::vector<double> x = p.x, dy = p.dy;
  RowForm form = op.form;
  if (form.spread != Spread::length) form.eps = p.eps;
  Matrix x_memory(p, row_major(p), x), dy_memory(p, row_major(p), dy), out(p, row_major(p));
  const auto rows = [&](Matrix& m) { return Rows{m.data(), p.type, p.rows, p.cols, p.cols}; };
  const truth::Forward forward = truth::row_norm_forward({form, rows(x_memory), {}, {}, rows(out)});
  const truth::Backward backward =
      truth::row_norm_backward({form, rows(dy_memory), rows(x_memory), {}, rows(out), {}, {}});
  Problem problem;
  problem.op = Op::row_norm;
  problem.form = form;
  problem.types = {p.type, p.type, p.type, p.type};
  problem.rows = p.rows;
  problem.cols = p.cols;
  Outputs outputs;
  outputs.y = got.y;
  outputs.dx = got.dx;
  for (const Errors& errors : measure(
           problem.types, p.cols, [&](Output output) { return bound_of(output, problem); }, outputs,
           forward, backward)) {
    EXPECT_LE(errors.share, 1) << op.name << ' ' << equinorm::name_of(p.type) << ' '
                               << name_of(errors.output) << " of " << p.rows << " x " << p.cols;
  }
}
#else
void expect_bounds(const Operator&, const Problem2d&, const Result&) {}
#endif

// Through every operator and type; threads take turns.
void run_everywhere(
    std::int64_t rows, std::vector<double> x, double eps, std::vector<double> dy = {},
    const std::function<void(const Operator&, const Problem2d&, const Result&)>& also = nullptr) {
  Random random(1);
  if (dy.empty()) {
    for (std::size_t i = 0; i < x.size(); ++i) dy.push_back(random.normal());
  }
  Context context;
  int turn = 0;
  for (const Operator& op : operators()) {
    for (const DType type : kAllTypes) {
      check(context.set_threads(1 + turn++ % 3));
      Problem2d p{type, rows, std::ssize(x) / rows, eps, x, dy};
      for (double& v : p.x) v = rounded(v, type);
      for (double& v : p.dy) v = rounded(v, type);
      const Result got = op.run(p, context);
      expect_bounds(op, p, got);
      if (also) also(op, p, got);
    }
  }
}

void expect_zeros(const Operator& op, const Problem2d& p, const Result& got) {
  if (!op.form.centered || !std::isfinite(p.x[0])) return;  // beyond f16 there is no such row
  for (const std::uint64_t bits : got.y) {
    ASSERT_EQ(reference::load(&bits, p.type, 0), 0) << op.name;
  }
}

std::vector<double> normal(std::size_t n, double mean, double spread, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> v(n);
  for (double& x : v) x = mean + spread * random.normal();
  return v;
}

TEST(EveryOperator, KeepsSmallDifferencesOfLargeNumbers) {
  run_everywhere(1, {40000, 40001, 40002, 40003}, 1e-5);
  run_everywhere(1, {2000.1, 2000.9, 1998.2, 2001.3}, 1e-5);
  for (const double offset : {0.0, 100.0, 1000.0, 10000.0}) {
    std::vector<double> x;
    for (int i = 0; i < 16; ++i) x.push_back(offset + i * 1e-3);
    run_everywhere(1, x, 1e-5);
  }
  run_everywhere(3, normal(3 * 769, 1000, 1, 2), 1e-5);
  run_everywhere(2, normal(2 * 768, 1e4, 1, 3), 1e-5);
}

TEST(EveryOperator, GivesZeroForConstantRowsWhereItCentres) {
  run_everywhere(2, std::vector<double>(512, 1234), 1e-5, {}, expect_zeros);
  run_everywhere(1, std::vector<double>(5, 1e15), 1e-5, {}, expect_zeros);
  run_everywhere(1, std::vector<double>(37, 1e10), 1e-5, {}, expect_zeros);
  run_everywhere(1, std::vector<double>(16, 0), 1e-12, {}, expect_zeros);
  std::vector<double> constants;
  Random random(4);
  for (int r = 0; r < 8; ++r) constants.insert(constants.end(), 768, random.normal());
  run_everywhere(8, constants, 1e-5, {}, expect_zeros);
}

TEST(EveryOperator, SurvivesSquaresAndSumsBeyondTheRange) {
  run_everywhere(1, {1e30, 2e30, 3e30, 4e30}, 1e-5);
  run_everywhere(1, {1e25, 1e25, 1e25, 1e25, 2e25, 2e25, 2e25, 2e25}, 1e-6);
  run_everywhere(1, {1e-25, 1e-25}, 1e-6);
  run_everywhere(1, {1e-25, -1e-25, 2e-25}, 0);
  run_everywhere(1, {1e-40, 1e-40, 3e-40}, 0);
  run_everywhere(2, normal(2 * 768, 0, 1e36, 5), 1e-5);
  std::vector<double> halves;
  for (int i = 0; i < 768; ++i) halves.push_back(i % 3 == 0 ? -496.4 : 496.4);
  run_everywhere(1, halves, 1e-5);
  run_everywhere(1, std::vector<double>(4096, 300), 1e-5);
}

TEST(EveryOperator, TakesEpsAsItIs) {
  std::vector<double> outlier(1024, 0.01);
  outlier[0] = 100;
  run_everywhere(1, outlier, 1e-5);
  for (const double x : {0.0, 1e-3, 1.0, 5.0}) run_everywhere(1, {x}, 1e-5);
  run_everywhere(1, {14, 14}, 1e-6);
}

TEST(EveryOperator, GivesNaNForABrokenRowAndLeavesTheOthersAlone) {
  std::vector<double> x = normal(4 * 65, 0, 1, 6);
  const std::vector<double> healthy = x;
  x[65 + 7] = std::numeric_limits<double>::infinity();
  x[2 * 65 + 64] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> dy = normal(x.size(), 0.3, 1, 7);
  Context context;
  for (const Operator& op : operators()) {
    for (const DType type : kAllTypes) {
      Problem2d p{type, 4, 65, 1e-5, x, dy}, q{type, 4, 65, 1e-5, healthy, dy};
      for (Problem2d* problem : {&p, &q}) {
        for (double& v : problem->x) v = rounded(v, type);
        for (double& v : problem->dy) v = rounded(v, type);
      }
      const Result broken = op.run(p, context), whole = op.run(q, context);
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (i / 65 == 1 || i / 65 == 2) {
          EXPECT_TRUE(std::isnan(reference::load(&broken.y[i], type, 0))) << op.name;
          EXPECT_TRUE(std::isnan(reference::load(&broken.dx[i], type, 0))) << op.name;
        } else {
          EXPECT_EQ(broken.y[i], whole.y[i]) << op.name;
          EXPECT_EQ(broken.dx[i], whole.dx[i]) << op.name;
        }
      }
    }
  }
}

TEST(EveryOperator, KeepsGradientsOfLargeMeansZeroRowsAndZeroGradients) {
  run_everywhere(1, normal(256, 1e4, 1, 8), 1e-5);
  run_everywhere(1, {2}, 0, {1});
  run_everywhere(1, {1, 1}, 0, {1, 0});
  run_everywhere(2, {0, 0, 0, 1, 2, 4}, 1e-5, {1, 2, 4, 1, 2, 4});
  run_everywhere(2, normal(2 * 33, 0, 1, 9), 1e-5, std::vector<double>(2 * 33));
  run_everywhere(1, {1, 0, 0, 0}, 1e-4, {1, 0, 0, 0});
}

TEST(EveryOperator, TakesEverySizeAndIsTheSameAloneAndInABatch) {
  Context context;
  for (const std::int64_t cols : {1,   2,   3,   5,   7,   9,   31,  33,   63,   65,   100,
                                  127, 129, 255, 257, 511, 513, 769, 1023, 1025, 3584, 4097}) {
    const std::vector<double> x = normal(static_cast<std::size_t>(2 * cols), 2, 1, 10);
    run_everywhere(2, x, 1e-5);
  }
  const std::int64_t cols = 33;
  for (const std::int64_t rows : {1, 255, 256, 1000}) {
    const std::vector<double> all = normal(static_cast<std::size_t>(rows * cols), 1, 1, 11);
    const std::vector<double> last(all.end() - cols, all.end());
    for (const Operator& op : operators()) {
      Problem2d many{DType::f32, rows, cols, 1e-5, all, all};
      Problem2d alone{DType::f32, 1, cols, 1e-5, last, last};
      for (Problem2d* p : {&many, &alone}) {
        for (double& v : p->x) v = rounded(v, DType::f32);
        p->dy = p->x;
      }
      check(context.set_threads(3));
      const Result a = op.run(many, context), b = op.run(alone, context);
      EXPECT_EQ(std::vector(a.y.end() - cols, a.y.end()), b.y) << op.name << ' ' << rows;
      EXPECT_EQ(std::vector(a.dx.end() - cols, a.dx.end()), b.dx) << op.name << ' ' << rows;
    }
  }
}

}  // namespace
}  // namespace equinorm::conformance
