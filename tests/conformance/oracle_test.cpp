// The oracles themselves: conversions, known values, and the contract oracle against the truth
// oracle. Nothing here runs a kernel.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "conformance/bounds.hpp"
#include "conformance/matrix.hpp"
#include "conformance/random.hpp"
#include "reference/numbers.hpp"
#include "reference/reduction.hpp"

namespace equinorm::conformance {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double load_bits(std::uint16_t bits, DType type) { return reference::load(&bits, type, 0); }

TEST(Conversion, HoldsTheKnownPatterns) {
  EXPECT_EQ(load_bits(0x3c00, DType::f16), 1);
  EXPECT_EQ(load_bits(0x7bff, DType::f16), 65504);
  EXPECT_EQ(load_bits(0x0001, DType::f16), 0x1p-24);
  EXPECT_EQ(load_bits(0x0400, DType::f16), 0x1p-14);
  EXPECT_EQ(load_bits(0xc248, DType::f16), -3.140625);
  EXPECT_EQ(load_bits(0x3f80, DType::bf16), 1);
  EXPECT_EQ(load_bits(0x0001, DType::bf16), 0x1p-133);
  EXPECT_EQ(load_bits(0x7f7f, DType::bf16), std::scalbn(255.0, 120));
  EXPECT_EQ(load_bits(0xff80, DType::bf16), -kInf);
}

TEST(Conversion, GivesBackEveryPatternOfSixteenBits) {
  for (const DType type : {DType::f16, DType::bf16}) {
    const std::uint16_t inf = type == DType::f16 ? 0x7c00 : 0x7f80;
    const std::uint16_t canonical_nan = type == DType::f16 ? 0x7e00 : 0x7fc0;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const double value = load_bits(static_cast<std::uint16_t>(bits), type);
      const bool is_nan = (bits & 0x7fff) > inf;
      ASSERT_EQ(std::isnan(value), is_nan) << bits;
      ASSERT_EQ(reference::round_to_16_bits(value, type), is_nan ? canonical_nan : bits);
    }
  }
}

// Between each pair of neighbours: the tie goes to the even one, anything beside it to the nearer.
TEST(Conversion, RoundsToNearestWithTiesToEven) {
  for (const DType type : {DType::f16, DType::bf16}) {
    const std::uint16_t inf = type == DType::f16 ? 0x7c00 : 0x7f80;
    for (std::uint16_t low = 0; low < inf; ++low) {
      const auto high = static_cast<std::uint16_t>(low + 1);
      const double below = load_bits(low, type);
      // Infinity stands for the next power of two.
      const double above =
          high == inf ? 2 * below - load_bits(low - 1, type) : load_bits(high, type);
      const double tie = below + (above - below) / 2;
      const std::uint16_t even = low % 2 == 0 ? low : high;
      ASSERT_EQ(reference::round_to_16_bits(tie, type), even) << low;
      ASSERT_EQ(reference::round_to_16_bits(std::nextafter(tie, 0), type), low) << low;
      ASSERT_EQ(reference::round_to_16_bits(std::nextafter(tie, kInf), type), high) << low;
      ASSERT_EQ(reference::round_to_16_bits(-tie, type), even | 0x8000) << low;
    }
  }
}

TEST(Conversion, RoundsADoubleOnceAndNotThroughFloat) {
  // 1 + 2^-8 + 2^-30 is above the tie of bf16; rounded to float first it would be the tie.
  EXPECT_EQ(reference::round_to_16_bits(1 + 0x1p-8 + 0x1p-30, DType::bf16), 0x3f81);
  EXPECT_EQ(reference::round_to_16_bits(1 + 0x1p-8, DType::bf16), 0x3f80);
  EXPECT_EQ(reference::round_to_16_bits(1 + 0x1p-11 + 0x1p-40, DType::f16), 0x3c01);
}

TEST(Conversion, StoresEveryNanAsTheCanonicalOne) {
  const double negative_nan = std::copysign(kNan, -1.0);
  std::uint64_t bits = 0;
  reference::store(&bits, DType::f64, 0, negative_nan);
  EXPECT_EQ(bits, 0x7ff8000000000000u);
  bits = 0;
  reference::store(&bits, DType::f32, 0, negative_nan);
  EXPECT_EQ(bits, 0x7fc00000u);
}

TEST(Reduction, KeepsTheLanesApartUntilTheFold) {
  // Lane 0 holds 1 and 2^30 - 1 - 2^30: in f32 the 1 survives only in the order of the contract.
  std::vector<float> v(600, 0.0f);
  v[0] = 1;
  v[1] = 0x1p30f;
  v[65] = -0x1p30f;  // lane 1 too
  v[512] = 3;        // second segment, lane 0
  EXPECT_EQ(reference::reduce<float>(600, [&](float acc, std::int64_t i) { return acc + v[i]; }),
            4);
}

TEST(Reduction, OfNothingIsZero) {
  EXPECT_EQ(reference::reduce<float>(0, [](float acc, std::int64_t) { return acc; }), 0);
}

Outputs oracle(Op op, DType type, std::vector<double> x, double eps) {
  Problem problem;
  problem.op = op;
  problem.types = {type, type, type, type};
  problem.cols = static_cast<std::int64_t>(x.size());
  problem.gamma = problem.beta = false;
  problem.eps = eps;
  return expected(problem, {std::move(x), {}, {}, {}});
}

TEST(ContractOracle, GivesTheGoldenValues) {
  // sqrt(3/2) / sqrt(1 + 1.5e-5), to the last bit of f32.
  const Outputs f32 = oracle(Op::layer_norm, DType::f32, {1000, 1001, 999}, 1e-5);
  const auto root = static_cast<float>(1 / std::sqrt(2.0 / 3 + 1e-5));
  EXPECT_EQ(f32.y[0], 0u);
  EXPECT_EQ(f32.y[1], std::bit_cast<std::uint32_t>(root));
  EXPECT_EQ(f32.y[2], std::bit_cast<std::uint32_t>(-root));
  EXPECT_NEAR(root, 1.22473569, 5e-9 + 0x1p-24);  // the value's last digit, and half an ulp
  const Outputs rms = oracle(Op::rms_norm, DType::f64, {3, 4}, 0);
  EXPECT_EQ(rms.rstd[0], std::bit_cast<std::uint64_t>(1 / std::sqrt(12.5)));
}

TEST(ContractOracle, SaysWhichRowsTookTheExactPath) {
  EXPECT_EQ(oracle(Op::layer_norm, DType::f32, {1, 2, 3}, 1e-5).exact[0], 0u);
  EXPECT_EQ(oracle(Op::layer_norm, DType::f32, {1e30, 2e30, 3e30}, 1e-5).exact[0], 1u);
  EXPECT_EQ(oracle(Op::layer_norm, DType::f32, {0, 0, 0}, 1e-5).exact[0], 0u);
  EXPECT_EQ(oracle(Op::layer_norm, DType::f32, {0, 0, 0}, 0).exact[0], 1u);
  EXPECT_EQ(oracle(Op::layer_norm, DType::f32, {1e-40, 2e-40, 4e-40}, 1e-5).exact[0], 1u);
  EXPECT_EQ(oracle(Op::rms_norm, DType::f64, {1e200, 1}, 1e-5).exact[0], 1u);
  EXPECT_EQ(oracle(Op::rms_norm, DType::f64, {1e100, 1}, 1e-5).exact[0], 0u);
}

TEST(ContractOracle, SavesZerosForARowWithoutColumns) {
  const Outputs outputs = oracle(Op::layer_norm, DType::f32, {}, 1e-5);
  EXPECT_EQ(outputs.rstd, std::vector<std::uint64_t>{0});
  EXPECT_EQ(outputs.exact, std::vector<std::uint64_t>{0});
}

#if EQUINORM_HAS_TRUTH
using truth::Value;

TEST(TruthOracle, GivesTheGoldenValues) {
  const std::vector<double> x = {1000, 1001, 999};
  LayerNormForward args;
  args.x = {x.data(), DType::f64, 1, 3, 3};
  const truth::Forward exact = truth::layer_norm_forward(args);
  EXPECT_EQ(exact.y[0].hi, 0);
  // Hand-computed: 1.5 / 1.000015 = 1.49997750033749493757593636...; its root
  // 1.22473569...: squaring the result gives it back to twice the precision of a double.
  const double h = exact.y[1].to_double();
  const double l = std::scalbn(exact.y[1].lo, static_cast<int>(exact.y[1].exponent));
  const double square = h * h;
  const double rest = std::fma(h, h, -square) + 2 * h * l;
  // (h + l)^2 * (2/3 + eps) must be 1; times 3 to stay exact: (2 + 3 eps) y^2 = 3.
  const long double left = (static_cast<long double>(square) + rest) * (2 + 3 * 1e-5L);
  EXPECT_NEAR(static_cast<double>(left - 3), 0, 0x1p-50);  // 3e-5L against eps as a double
  EXPECT_NEAR(h, 1.22473569, 5e-9);
  EXPECT_EQ(exact.y[2].hi, -exact.y[1].hi);
  EXPECT_EQ(exact.y[2].lo, -exact.y[1].lo);
  EXPECT_EQ(exact.mean[0].to_double(), 1000);
}

TEST(TruthOracle, LosesNothingAtTheEndsOfTheRange) {
  const std::vector<double> x = {1.5e308, -1.5e308, 5e-324, 0};
  RmsNormForward args;
  args.x = {x.data(), DType::f64, 1, 4, 4};
  args.eps = 0;
  const truth::Forward exact = truth::rms_norm_forward(args);
  EXPECT_EQ(exact.y[0].to_double(), std::sqrt(2.0));
  EXPECT_EQ(exact.y[1].to_double(), -std::sqrt(2.0));
  EXPECT_GT(exact.y[2].hi, 0);  // about 2^-2097, far below any double
  EXPECT_LT(truth::ilogb(exact.y[2]), -2090);
  EXPECT_EQ(exact.y[3].hi, 0);
}

TEST(TruthOracle, ReadsAnExampleOfItsHeader) {
  const std::vector<float> x = {1000, 1001, 999};
  std::vector<float> y(3);
  LayerNormForward args;
  args.x = {x.data(), DType::f32, 1, 3, 3};
  args.y = {y.data(), DType::f32, 1, 3, 3};
  reference::layer_norm_forward(args);
  const truth::Forward exact = truth::layer_norm_forward(args);
  const Value unit = truth::scale_ulp(exact.scale[0], DType::f32);
  EXPECT_LE(truth::error(y[1], DType::f32, exact.y[1], unit), 3);
  EXPECT_GT(truth::error(y[1] + 0x1p-20f, DType::f32, exact.y[1], unit), 3);
}

TEST(ErrorUnits, CountSpacingsAndParts) {
  const Value one = {0.5, 0, 1};
  EXPECT_EQ(truth::ulp(one, DType::f32).to_double(), 0x1p-23);
  EXPECT_EQ(truth::ulp({0.5, -0x1p-60, 1}, DType::f32).to_double(), 0x1p-24);
  EXPECT_EQ(truth::ulp({0, 0, 0}, DType::f16).to_double(), 0x1p-24);
  EXPECT_EQ(truth::ulp(one, DType::bf16).to_double(), 0x1p-7);
  EXPECT_EQ(truth::scale_ulp({0.75, 0, 1}, DType::f32).to_double(), 1.5 * 0x1p-23);
  EXPECT_EQ(truth::scale_ulp({0, 0, 0}, DType::f64).to_double(), 0x1p-1074);
  EXPECT_EQ(truth::error(1 + 0x1p-20, DType::f32, one, truth::ulp(one, DType::f32)), 8);
  EXPECT_EQ(truth::error(kNan, DType::f32, {kNan, 0, 0}, one), 0);
  EXPECT_EQ(truth::error(kNan, DType::f32, one, one), kInf);
  EXPECT_EQ(truth::error(kInf, DType::f16, {0.5, 0, 100}, one), 0);
  EXPECT_EQ(truth::error(kInf, DType::f16, {0.5, 0, 16}, one), 32768);
}

TEST(ContractOracle, IsWithinTheStatedBoundsOfTheTruth) {
  for (const Kernel& kernel : all_kernels()) {
    if (kernel.x != kernel.y) continue;
    for (const Problem& problem : bound_problems(kernel, Scale::small)) {
      const Inputs inputs = make_inputs(problem);
      const Outputs outputs = expected(problem, inputs);
      for (const Errors& errors : Yardstick(problem, inputs).measure(outputs)) {
        EXPECT_LE(errors.share, 1) << describe(problem) << ' ' << name_of(errors.output);
      }
    }
  }
}
#endif

}  // namespace
}  // namespace equinorm::conformance
