// Values of equinorm::torch::layer_norm and rms_norm: bounds, types, affine forms, errors.
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <string>
#include <vector>

#include "equinorm/torch/functional.hpp"
#include "tensor_checks.hpp"

namespace equinorm::tests {
namespace {

namespace eq = ::equinorm::torch;

constexpr double kForwardBound = 3;  // docs/numerics.md, section 6

at::Tensor run(const Problem& problem) {
  const auto shape = problem.x.sizes().slice(1);
  return problem.centred
             ? eq::layer_norm(problem.x, shape, problem.weight, problem.bias, problem.eps)
             : eq::rms_norm(problem.x, shape, problem.weight, problem.eps, problem.add_one);
}

double error_in_scale_ulps(const at::Tensor& y, const Truth& truth) {
  return scale_ulps(y, truth.y, truth.scale);
}

template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "no error";
}

#define EXPECT_ERROR(call, text)                                 \
  do {                                                           \
    const std::string message = error_of([&] { (void)(call); }); \
    EXPECT_NE(message.find(text), std::string::npos) << message; \
  } while (false)

TEST(Functional, EveryTypeAndAffineFormStaysWithinTheBound) {
  for (const auto type : all_types()) {
    for (const std::int64_t cols : {1, 7, 64, 769}) {
      const auto x = normal({9, cols}, type, 1, 0.3);
      const auto weight = normal({cols}, type, 2, 1, 0.3);
      const auto bias = normal({cols}, type, 3);
      const std::vector<Problem> problems = {
          {x, {}, {}},
          {x, weight, {}},
          {x, {}, bias},
          {x, weight, bias},
          {.x = x, .weight = {}, .bias = {}, .centred = false},
          {.x = x, .weight = weight, .bias = {}, .centred = false},
          {.x = x, .weight = weight, .bias = {}, .centred = false, .add_one = true}};
      for (const auto& problem : problems) {
        EXPECT_LE(error_in_scale_ulps(run(problem), truth_of(problem)), kForwardBound)
            << type << " cols " << cols << " centred " << problem.centred;
      }
    }
  }
}

TEST(Functional, LargeMeansAndHugeNumbersStayWithinTheBound) {
  for (const double mean : {100.0, 1e4}) {
    const Problem problem{.x = normal({16, 768}, at::kFloat, 4, mean), .weight = {}, .bias = {}};
    EXPECT_LE(error_in_scale_ulps(run(problem), truth_of(problem)), kForwardBound) << mean;
  }
  for (const bool centred : {true, false}) {
    const Problem problem{.x = normal({16, 768}, at::kFloat, 5, 0, 1e36),
                          .weight = {},
                          .bias = {},
                          .centred = centred};
    EXPECT_LE(error_in_scale_ulps(run(problem), truth_of(problem)), kForwardBound);
  }
}

TEST(Functional, AgreesWithPyTorchInDouble) {
  // Both sum D numbers in double: each errs by at most about D units at the row's scale.
  const std::int64_t cols = 64;
  const auto x = normal({33, cols}, at::kDouble, 6);
  const auto weight = normal({cols}, at::kDouble, 7);
  const auto bias = normal({cols}, at::kDouble, 8);
  const double unit = truth_of({x, weight, bias}).scale[0] > 0 ? std::ldexp(1.0, -52) : 0;
  const double scale = x.abs().max().item<double>() * weight.abs().max().item<double>() +
                       bias.abs().max().item<double>();
  const double tolerance = 2 * cols * unit * scale;
  EXPECT_LE((eq::layer_norm(x, {cols}, weight, bias) - at::layer_norm(x, {cols}, weight, bias))
                .abs()
                .max()
                .item<double>(),
            tolerance);
  EXPECT_LE((eq::rms_norm(x, {cols}, weight, 1e-6) - at::rms_norm(x, {cols}, weight, 1e-6))
                .abs()
                .max()
                .item<double>(),
            tolerance);
}

TEST(Functional, HigherRanksEqualTheFlattenedInput) {
  for (const auto type : all_types()) {
    const auto x = normal({3, 5, 4, 6}, type, 9);
    const auto weight = normal({4, 6}, type, 10);
    const auto bias = normal({4, 6}, type, 11);
    const auto flat = x.reshape({15, 24});
    EXPECT_TRUE(same_bits(
        eq::layer_norm(x, {4, 6}, weight, bias),
        eq::layer_norm(flat, {24}, weight.flatten(), bias.flatten()).reshape({3, 5, 4, 6})));
    EXPECT_TRUE(same_bits(eq::rms_norm(x, {4, 6}, weight, 1e-6),
                          eq::rms_norm(flat, {24}, weight.flatten(), 1e-6).reshape({3, 5, 4, 6})));
    EXPECT_TRUE(same_bits(eq::layer_norm(x[0][0][0], {6}),
                          eq::layer_norm(x[0][0], {6})[0]));  // no leading axis at all
  }
}

TEST(Functional, MixedTypesEqualWidenedParametersRoundedOnce) {
  const auto wide_weight = normal({65}, at::kFloat, 12, 1, 0.3);
  const auto wide_bias = normal({65}, at::kFloat, 13);
  for (const auto type : {at::kHalf, at::kBFloat16}) {
    const auto x = normal({7, 65}, type, 14);
    const Problem wide{.x = x.to(at::kFloat), .weight = wide_weight, .bias = wide_bias};
    EXPECT_TRUE(same_bits(eq::layer_norm(x, {65}, wide_weight, wide_bias), run(wide).to(type)));
    EXPECT_TRUE(same_bits(eq::rms_norm(x, {65}, wide_weight, 1e-6),
                          eq::rms_norm(wide.x, {65}, wide_weight, 1e-6).to(type)));
    const auto narrow = normal({65}, type, 15);
    const auto y = eq::layer_norm(wide.x, {65}, narrow, wide_bias);
    EXPECT_EQ(y.scalar_type(), at::kFloat);
    EXPECT_TRUE(same_bits(y, eq::layer_norm(wide.x, {65}, narrow.to(at::kFloat), wide_bias)));
  }
}

TEST(Functional, EmptyTensorsGiveEmptyTensors) {
  for (const auto& sizes :
       std::vector<std::vector<std::int64_t>>{{0, 4}, {3, 0}, {0, 0}, {2, 0, 4}}) {
    const auto x = at::empty(sizes);
    const auto weight = at::ones({sizes.back()});
    EXPECT_EQ(eq::layer_norm(x, {sizes.back()}, weight, weight).sizes(), x.sizes());
    EXPECT_EQ(eq::rms_norm(x, {sizes.back()}, weight, 1e-6, true).sizes(), x.sizes());
  }
}

TEST(Functional, RmsNormWithoutEpsTakesTheMachineEpsilonOfTheInput) {
  const std::vector<std::pair<at::ScalarType, double>> documented = {
      {at::kDouble, 2.220446049250313e-16},
      {at::kFloat, 1.1920928955078125e-07},
      {at::kHalf, 0.0009765625},
      {at::kBFloat16, 0.0078125}};
  for (const auto& [type, eps] : documented) {
    const auto x = normal({4, 32}, type, 16, 0, 0.01);
    EXPECT_TRUE(same_bits(eq::rms_norm(x, {32}), eq::rms_norm(x, {32}, {}, eps))) << type;
  }
}

TEST(Functional, ZeroEpsAndZeroRowGiveZero) {
  const auto zero = at::zeros({2, 8});
  EXPECT_TRUE(same_bits(eq::layer_norm(zero, {8}, {}, {}, 0), zero));
  EXPECT_TRUE(same_bits(eq::rms_norm(zero, {8}, {}, 0.0), zero));
}

TEST(Functional, ErrorsNameTheArgumentTheValueAndTheRule) {
  const auto x = at::ones({2, 3});
  EXPECT_ERROR(eq::layer_norm(x.to(at::kLong), {3}), "x.dtype = Long: must be Double, Float");
  EXPECT_ERROR(eq::rms_norm(x.to(at::kComplexFloat), {3}), "x.dtype = ComplexFloat: must be");
  EXPECT_ERROR(eq::layer_norm(x, {5}),
               "normalized_shape = [5]: must equal the last sizes of x, whose shape is [2, 3]");
  EXPECT_ERROR(eq::layer_norm(x, {1, 2, 3}), "normalized_shape = [1, 2, 3]: must equal");
  EXPECT_ERROR(eq::layer_norm(x, {}), "normalized_shape = []: must have at least one dimension");
  EXPECT_ERROR(eq::layer_norm(x, {3}, at::ones({4})),
               "weight.shape = [4]: must equal normalized_shape = [3]");
  EXPECT_ERROR(eq::layer_norm(x, {3}, {}, at::ones({1, 3})), "bias.shape = [1, 3]: must equal");
  EXPECT_ERROR(eq::rms_norm(x, {3}, at::ones({3}, at::kDouble)),
               "weight.dtype = Double: needs x.dtype = Double, not Float");
  EXPECT_ERROR(eq::layer_norm(x, {3}, at::ones({3}, at::kInt)), "weight.dtype = Int: must be");
  EXPECT_ERROR(eq::layer_norm(x, {3}, {}, {}, -1), "eps = -1: must be finite and at least 0");
  EXPECT_ERROR(eq::rms_norm(x, {3}, {}, std::nan("")), "eps = nan: must be finite");
  EXPECT_ERROR(eq::rms_norm(x, {3}, {}, 1e-5, true), "add_one = true: needs weight");
  EXPECT_ERROR(eq::layer_norm(at::Tensor(), {3}), "x is undefined");
  EXPECT_ERROR(eq::layer_norm(x.to_sparse(), {3}), "x.layout = Sparse: must be Strided");
  EXPECT_ERROR(eq::layer_norm(x, {3}, at::ones({3}, at::kMeta)),
               "weight.device = meta: must equal");
}

TEST(Functional, OtherDevicesGiveTheRightShapesAndTypes) {
  const auto meta = at::TensorOptions().device(at::kMeta);
  const auto x = at::empty({4, 6}, meta.dtype(at::kBFloat16));
  const auto weight = at::empty({6}, meta.dtype(at::kFloat));
  for (const auto& y : {eq::layer_norm(x, {6}, weight, weight), eq::rms_norm(x, {6}, weight),
                        eq::rms_norm(x, {6}, weight, 1e-6, true), eq::layer_norm(x, {6})}) {
    EXPECT_EQ(y.sizes(), x.sizes());
    EXPECT_EQ(y.scalar_type(), at::kBFloat16);
    EXPECT_TRUE(y.is_meta());
  }
}

TEST(Functional, TheCompositeForOtherDevicesComputesTheSameFormula) {
  const auto x = normal({5, 48}, at::kBFloat16, 17);
  const auto weight = normal({48}, at::kFloat, 18);
  const Problem norm{.x = x, .weight = weight, .bias = weight};
  const Problem rms{.x = x, .weight = weight, .bias = {}, .centred = false, .add_one = true};
  // Sums of D floats err by up to about D units.
  const double bound = 48;
  EXPECT_LE(error_in_scale_ulps(eq::detail::layer_norm_composite(x, 1, weight, weight, 1e-5),
                                truth_of(norm)),
            bound);
  EXPECT_LE(
      error_in_scale_ulps(eq::detail::rms_norm_composite(x, 1, weight, 1e-5, true), truth_of(rms)),
      bound);
}

TEST(Functional, AutocastChangesNothing) {
  const auto x = normal({4, 32}, at::kBFloat16, 19);
  const auto weight = normal({32}, at::kFloat, 20);
  const auto plain = eq::layer_norm(x, {32}, weight);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  const auto cast = eq::layer_norm(x, {32}, weight);
  at::autocast::set_autocast_enabled(at::kCPU, false);
  EXPECT_TRUE(same_bits(plain, cast));
}

}  // namespace
}  // namespace equinorm::tests
