// Faults that users of other normalizations reported, reduced to small inputs: gradients.
#include "conformance/random.hpp"
#include "example.hpp"

namespace equinorm::conformance {
namespace {

std::vector<double> normal(std::size_t n, double mean, double spread, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values(n);
  for (double& v : values) v = mean + spread * random.normal();
  return values;
}

std::vector<double> ones(std::size_t n) { return std::vector<double>(n, 1); }

void expect_all(const std::vector<double>& values, double expected_value) {
  for (const double v : values) ASSERT_EQ(v, expected_value);
}

TEST(GradientCase, OneColumnHasNoGradient) {
  for (const DType type : {DType::f64, DType::f32, DType::bf16}) {
    const Example e = with_affine(example(Op::layer_norm, type, {1e6}, 1e-5), {1}, {3});
    expect_all(run_everywhere(e).y, 3);
    const Results r = run_everywhere(backward(e, {1}));
    expect_all(r.dx, 0);
    expect_all(r.dgamma, 0);
    expect_all(r.dbeta, 1);
  }
}

TEST(GradientCase, SumOfOnesIsTheNumberOfRows) {
  const std::pair<DType, std::int64_t> cases[] = {
      {DType::bf16, 1000}, {DType::f16, 5000}, {DType::bf16, 16384}, {DType::f32, 16384}};
  for (const auto& [type, rows] : cases) {
    const auto n = static_cast<std::size_t>(rows * 3);
    const Example e =
        backward(example(Op::layer_norm, type, normal(n, 0, 1, 2), 1e-5, rows), ones(n));
    expect_all(run_everywhere(e).dbeta, rounded({static_cast<double>(rows)}, type)[0]);
  }
}

TEST(GradientCase, SavedMeanIsNotRoundedToTheStorageType) {
  Example e = backward(example(Op::layer_norm, DType::bf16, {100, 100, 100, 101}, 1e-5), ones(4));
  e.problem.types.gradient = DType::f32;
  expect_values(run_everywhere(e).dgamma, {-0.577335, -0.577335, -0.577335, 1.732005}, 5e-7);
  for (const DType type : kAllTypes) {
    run_everywhere(backward(example(Op::layer_norm, type, {100, 100, 100, 101}, 1e-5), ones(4)));
  }
}

TEST(GradientCase, ProductsOfDyAndGammaThatUnderflowAreNotAZeroGradient) {
  for (const Op op : kBothOps) {
    for (const bool wide : {false, true}) {
      const DType type = wide ? DType::f64 : DType::f32;
      const double x = wide ? 0x1p-449 : 0x1p-44;
      const double dy = wide ? 0x1p-538 : 0x1p-76;
      const double gamma = wide ? 0x1p-538 : 0x1p-75;
      const Example e =
          with_affine(example(op, type, {x, -x, x, x / 2}, 0), std::vector<double>(4, gamma), {});
      const Results r = run_everywhere(backward(e, {dy, 0, 0, dy}));
      EXPECT_GT(r.dx[0], 0) << name_of(op) << ' ' << name_of(type);
      expect_all(run_everywhere(backward(e, {0, 0, 0, 0})).dx, 0);
    }
  }
}

TEST(GradientCase, NormalizedElementsThatUnderflowKeepDgammaWithinItsBound) {
  run_everywhere(with_affine(
      backward(example(Op::rms_norm, DType::f32, {1e-36, 1e12}, 1e-5), {1e30, 0}), {1, 1}, {}));
  run_everywhere(with_affine(
      backward(example(Op::rms_norm, DType::f64, {1e-200, 1e150}, 1e-5), {1e300, 0}), {1, 1}, {}));
}

TEST(GradientCase, LargeMeanWithAnOrdinarySpread) {
  for (const DType type : kAllTypes) {
    const Example e = example(Op::layer_norm, type, normal(3 * 768, 1e4, 1, 3), 1e-5, 3);
    run_everywhere(backward(e, normal(3 * 768, 0, 1, 4)));
  }
}

TEST(GradientCase, RmsNormProjectsOntoXWithoutAMean) {
  for (const DType type : kAllTypes) {
    expect_all(run_everywhere(backward(example(Op::rms_norm, type, {2}, 0), {1})).dx, 0);
    const Results r = run_everywhere(backward(example(Op::rms_norm, type, {1, 1}, 0), {1, 0}));
    EXPECT_EQ(r.dx, (std::vector<double>{0.5, -0.5}));
  }
}

TEST(GradientCase, ZeroRowPassesTheCentredGradient) {
  const double eps = 0x1p-16;  // a root without rounding: dx = (dy - mean(dy)) * 256
  for (const DType type : kAllTypes) {
    const Example e = example(Op::layer_norm, type, {0, 0, 0, 0}, eps);
    const Results r = run_everywhere(backward(e, {1, 2, 3, 6}));
    EXPECT_EQ(r.dx, (std::vector<double>{-512, -256, 0, 768}));
  }
}

TEST(GradientCase, ZeroWeightsDoNotDivide) {
  for (const Op op : kBothOps) {
    for (const DType type : kAllTypes) {
      Example e = example(op, type, normal(4 * 33, 0, 1, 6), 1e-5, 4);
      std::vector<double> gamma(33, 1);
      for (std::size_t i = 0; i < gamma.size(); i += 2) gamma[i] = 0;
      e = backward(with_affine(e, gamma, {}), normal(4 * 33, 0, 1, 7));
      const Results with_zeros = run_everywhere(e);
      for (const double v : with_zeros.dx) EXPECT_TRUE(std::isfinite(v));
      // dgamma does not know gamma.
      e.inputs.gamma.assign(33, 1);
      EXPECT_EQ(run_everywhere(e).dgamma, with_zeros.dgamma);
    }
  }
}

TEST(GradientCase, WorkspaceOfAnEarlierCallDoesNotShow) {
  for (const Op op : kBothOps) {
    Context context;
    for (const std::int64_t rows : {1, 3, 31, 32, 33, 131, 4097}) {
      const auto n = static_cast<std::size_t>(rows * 40);
      const std::vector<double> x = normal(n, 0, 1, 8);
      const std::vector<double> nan(n, std::numeric_limits<double>::quiet_NaN());
      const Example poison = backward(example(op, DType::f32, nan, 1e-5, rows), nan);
      const Example e = backward(example(op, DType::f32, x, 1e-5, rows), x);
      const Outputs outputs = expected(e.problem, e.inputs);
      for (const int threads : {1, 2, 3, 7}) {
        Execution execution;
        execution.isa = available_isas().back();
        execution.threads = threads;
        Call first(poison.problem, poison.inputs, execution);
        ASSERT_TRUE(first.run(context).ok());
        EXPECT_EQ(compare(e.problem, e.inputs, outputs, execution, context), "");
      }
      for (const double v : numbers(outputs.dgamma, DType::f32)) EXPECT_TRUE(std::isfinite(v));
    }
  }
}

TEST(GradientCase, SumsOverManyRowsKeepTheirDigits) {
  const std::int64_t rows = scale_from_environment() == Scale::full ? 16384 : 1024;
  const auto n = static_cast<std::size_t>(rows * 64);
  for (const Op op : kBothOps) {
    run_everywhere(
        backward(example(op, DType::f32, normal(n, 0, 1, 9), 1e-5, rows), normal(n, 0, 1, 10)));
  }
}

TEST(GradientCase, GradientsOfABf16BatchAreRoundedOnce) {
  const std::int64_t rows = scale_from_environment() == Scale::full ? 16384 : 1024;
  const auto n = static_cast<std::size_t>(rows * 16);
  run_everywhere(backward(example(Op::layer_norm, DType::bf16, normal(n, 0, 1, 11), 1e-5, rows),
                          normal(n, 0.3, 1, 12)));
}

}  // namespace
}  // namespace equinorm::conformance
