// Faults that users of other normalizations reported, reduced to small inputs: forward values.
#include <functional>

#include "conformance/random.hpp"
#include "example.hpp"

namespace equinorm::conformance {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> normal(std::size_t n, double mean, double spread, std::uint64_t seed = 1) {
  Random random(seed);
  std::vector<double> values(n);
  for (double& v : values) v = mean + spread * random.normal();
  return values;
}

void expect_all(const std::vector<double>& values, double expected_value) {
  for (const double v : values) ASSERT_EQ(v, expected_value);
}

TEST(Case, VarianceOfAnOffsetRowIsNotNegative) {
  const std::vector<double> x = {40000, 40001, 40002, 40003};
  const std::vector<double> y = {-1.3416354, -0.4472118, 0.4472118, 1.3416354};
  for (const DType type : {DType::f32, DType::f64}) {
    expect_values(run_everywhere(example(Op::layer_norm, type, x, 1e-5)).y, y, 5e-8);
  }
  for (const DType type : kAllTypes) run_everywhere(example(Op::layer_norm, type, x, 1e-5));
}

TEST(Case, ConstantRowGivesExactlyZero) {
  for (const DType type : kAllTypes) {
    expect_all(
        run_everywhere(example(Op::layer_norm, type, std::vector<double>(256, 1234), 1e-5)).y, 0);
    const std::vector<double> huge(5, type == DType::f16 ? 6e4 : 1e15);
    expect_all(run_everywhere(example(Op::layer_norm, type, huge, 1e-5)).y, 0);
  }
}

TEST(Case, OffsetRowKeepsItsDigits) {
  const std::vector<double> x = {2000.1, 2000.9, 1998.2, 2001.3};
  const std::vector<double> y = {-0.0209855, 0.6499353, -1.6143454, 0.9853956};
  expect_values(run_everywhere(example(Op::layer_norm, DType::f32, x, 1e-5)).y, y, 5e-8);
  for (const DType type : kAllTypes) run_everywhere(example(Op::layer_norm, type, x, 1e-5));
}

TEST(Case, AffineIsAppliedToTheNormalizedValue) {
  for (const DType type : kAllTypes) {
    const Example e = with_affine(example(Op::layer_norm, type, {14, 14}, 1e-6), {1, 1}, {1, 1});
    expect_all(run_everywhere(e).y, 1);
  }
}

TEST(Case, OneColumnGivesBetaForAnyGamma) {
  for (const DType type : kAllTypes) {
    for (int k = 0; k <= (type == DType::f16 ? 4 : 30); ++k) {
      const Example e =
          with_affine(example(Op::layer_norm, type, {-3}, 0.1), {std::pow(10.0, k)}, {-1});
      expect_all(run_everywhere(e).y, -1);
    }
  }
}

TEST(Case, SquaresThatOverflowDoNotSpoilTheRow) {
  const std::vector<double> y = {-1.3416408, -0.4472136, 0.4472136, 1.3416408};
  const std::vector<double> ln = {1e30, 2e30, 3e30, 4e30};
  expect_values(run_everywhere(example(Op::layer_norm, DType::f32, ln, 1e-5)).y, y, 5e-8);
  run_everywhere(example(Op::layer_norm, DType::bf16, ln, 1e-5));
  const std::vector<double> f64 = {1e300, 2e300, 3e300, 4e300};
  expect_values(run_everywhere(example(Op::layer_norm, DType::f64, f64, 1e-5)).y, y, 5e-8);

  const std::vector<double> rms = {1e25, 1e25, 1e25, 1e25, 2e25, 2e25, 2e25, 2e25};
  const std::vector<double> rms_y = {0.6324555, 0.6324555, 0.6324555, 0.6324555,
                                     1.2649111, 1.2649111, 1.2649111, 1.2649111};
  const Example e = example(Op::rms_norm, DType::f32, rms, 1e-6);
  expect_values(run_everywhere(e).y, rms_y, 5e-8);
  run_everywhere(example(Op::rms_norm, DType::bf16, rms, 1e-6));
  for (const double dx : run_everywhere(backward(e, {1, 0, 0, 0, 0, 0, 0, 0})).dx) {
    EXPECT_TRUE(std::isfinite(dx));
    EXPECT_LE(std::abs(dx), 6.4e-26);  // 1 / r, r = 1.58e25
  }
}

TEST(Case, SquaresThatUnderflowDoNotVanish) {
  for (const double x : {1e-25, 1e-40}) {
    for (const DType type : {DType::f32, DType::bf16, DType::f64}) {
      expect_values(run_everywhere(example(Op::rms_norm, type, {x, x}, 0)).y, {1, 1}, 0);
      const Results with_eps = run_everywhere(example(Op::rms_norm, type, {x, x}, 1e-6));
      const double exact = rounded({x}, type)[0] * 1000;
      const double spacing = type == DType::bf16 ? 0x1p-8 : 0x1p-22;  // relative
      EXPECT_NEAR(with_eps.y[0], exact, exact * spacing);
    }
  }
}

TEST(Case, OffsetSweepKeepsTheFirstValue) {
  // The inputs are rounded to f32, hence another value for each offset.
  const double offsets[] = {0, 100, 1000, 10000};
  const double first[] = {-1.34164, -1.34153, -1.34151, -1.33133};
  for (int k = 0; k < 4; ++k) {
    std::vector<double> x(16);
    for (int i = 0; i < 16; ++i) x[i] = offsets[k] + i * 1e-3;
    const Results f32 = run_everywhere(example(Op::layer_norm, DType::f32, x, 1e-5));
    expect_values({f32.y[0]}, {first[k]}, 5e-6);
    for (const DType type : kAllTypes) run_everywhere(example(Op::layer_norm, type, x, 1e-5));
  }
}

TEST(Case, EpsIsNotRoundedToTheStorageType) {
  for (const DType type : kAllTypes) {
    expect_all(run_everywhere(example(Op::layer_norm, type, std::vector<double>(16), 1e-12)).y, 0);
    expect_all(run_everywhere(example(Op::rms_norm, type, std::vector<double>(16), 1e-12)).y, 0);
  }
}

TEST(Case, SumsOfHalfPrecisionRowsDoNotOverflow) {
  std::vector<double> signs(768);
  for (std::size_t i = 0; i < signs.size(); ++i) signs[i] = i % 3 == 0 ? -496.4 : 496.4;
  run_everywhere(example(Op::layer_norm, DType::f16, signs, 1e-5));
  std::vector<double> large = normal(2048, 0, 5000);
  large[7] = 17984;
  run_everywhere(example(Op::rms_norm, DType::f16, large, 1e-5));
  const Results r =
      run_everywhere(example(Op::rms_norm, DType::f16, std::vector<double>(4096, 300), 1e-5));
  expect_all(r.y, 1);
}

TEST(Case, RowsThatDifferByAnOffsetAreEqual) {
  std::vector<double> x;
  for (int i = 0; i < 30; ++i) x.push_back(i);
  for (const DType type : kAllTypes) {
    const Results r = run_everywhere(example(Op::layer_norm, type, x, 1e-5, 3));
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(r.y[i], r.y[10 + i]);
      EXPECT_EQ(r.y[i], r.y[20 + i]);
    }
    const double half_ulp = type == DType::f16 ? 0x1p-11 : type == DType::bf16 ? 0x1p-8 : 0x1p-22;
    EXPECT_NEAR(r.y[0], -1.5667, 5e-5 + half_ulp);
  }
}

TEST(Case, OneLargeElementAmongSmallOnes) {
  std::vector<double> x(1024, 0.01);
  x[0] = 100;
  expect_values({run_everywhere(example(Op::rms_norm, DType::f32, x, 1e-5)).y[0]}, {31.99982},
                5e-6);
  for (const DType type : kAllTypes) run_everywhere(example(Op::rms_norm, type, x, 1e-5));
}

TEST(Case, EpsCountsForOneColumn) {
  const double x[] = {0, 1e-3, 1, 5};
  const double y[] = {0, 0.3015113, 0.9999950, 0.9999998};
  for (int i = 0; i < 4; ++i) {
    expect_values(run_everywhere(example(Op::rms_norm, DType::f32, {x[i]}, 1e-5)).y, {y[i]}, 5e-8);
    expect_values(run_everywhere(example(Op::rms_norm, DType::f64, {x[i]}, 1e-5)).y, {y[i]}, 5e-8);
    for (const DType type : kAllTypes) run_everywhere(example(Op::rms_norm, type, {x[i]}, 1e-5));
  }
}

TEST(Case, LanesBeyondTheRowDoNotCount) {
  for (const DType type : kAllTypes) {
    run_everywhere(example(Op::layer_norm, type, normal(769, 1000, 1), 1e-5));
  }
}

TEST(Case, OnePlusGammaIsAddedInTheComputeType) {
  for (const double w : {0.00390625, 15.8125}) {
    Example e = with_affine(example(Op::rms_norm, DType::bf16, normal(64, 0, 1), 1e-6),
                            std::vector<double>(64, w), {});
    e.problem.add_one = true;
    const Results narrow = run_everywhere(e);
    e.problem.types = {DType::bf16, DType::f32, DType::f32, DType::f32};
    const std::vector<double> wide = run_everywhere(e).y;
    EXPECT_EQ(narrow.y, rounded(wide, DType::bf16));
  }
}

TEST(Case, NonFiniteRowsAreNanAndOthersUntouched) {
  for (const Op op : kBothOps) {
    for (const DType type : kAllTypes) {
      std::vector<double> x = normal(5 * 33, 0, 1);
      const std::vector<double> clean = run_everywhere(example(op, type, x, 1e-5, 5)).y;
      x[33 + 4] = kNan;
      x[3 * 33 + 32] = kInf;
      const std::vector<double> y = run_everywhere(example(op, type, x, 1e-5, 5)).y;
      for (std::size_t i = 0; i < y.size(); ++i) {
        const bool broken = i / 33 == 1 || i / 33 == 3;
        EXPECT_EQ(std::isnan(y[i]), broken);
        if (!broken) {
          EXPECT_EQ(y[i], clean[i]);
        }
      }
    }
  }
}

TEST(Case, ConstantRowWhoseSumRoundsGivesExactlyBeta) {
  for (const DType type : kAllTypes) {
    const std::vector<double> beta = normal(768, 0, 1, 5);
    for (int k = 0; k < 64; ++k) {
      const double constant = 3 * Random(static_cast<std::uint64_t>(k)).normal();
      const Example e =
          with_affine(example(Op::layer_norm, type, std::vector<double>(768, constant), 1e-5),
                      std::vector<double>(768, 1.5), beta);
      const std::vector<std::uint64_t> y = expected(e.problem, e.inputs).y;
      EXPECT_EQ(numbers(y, type), e.inputs.beta) << constant;
      if (k % 16 == 0) run_everywhere(e);
    }
  }
}

TEST(Case, LargeMeanWithAnOrdinarySpread) {
  for (const double mean : {100.0, 1e4}) {
    for (const DType type : kAllTypes) {
      run_everywhere(example(Op::layer_norm, type, normal(768, mean, 1), 1e-5));
    }
  }
}

TEST(Case, SumsThatOverflowBeforeASquareDoes) {
  for (const Op op : kBothOps) {
    run_everywhere(example(op, DType::f32, normal(768, 0, 1e36), 1e-5));
    run_everywhere(example(op, DType::bf16, normal(768, 0, 1e36), 1e-5));
    run_everywhere(example(op, DType::f64, normal(768, 0, 1e306), 1e-5));
  }
}

TEST(Case, RmsNormDoesNotCentre) {
  for (const DType type : kAllTypes) {
    const Results r = run_everywhere(example(Op::rms_norm, type, normal(512, 1, 2), 1e-5));
    double mean = 0;
    for (const double v : r.y) mean += v / 512;
    EXPECT_GT(mean, 0.3);  // 1 / sqrt(5) = 0.447, with a standard error of 0.04
  }
}

TEST(Case, ZeroEpsWithAZeroRowGivesZero) {
  for (const Op op : kBothOps) {
    for (const DType type : kAllTypes) {
      const Example e = example(op, type, std::vector<double>(9), 0);
      expect_all(run_everywhere(e).y, 0);
      expect_all(run_everywhere(backward(e, std::vector<double>(9, 1))).dx, 0);
    }
  }
}

}  // namespace
}  // namespace equinorm::conformance
