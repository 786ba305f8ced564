// Rounding to fp16 and bf16: values, counts, which operations are seen, and runs in low precision.
#include <ATen/Functions.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "lab/error.hpp"
#include "lab/models/forward_context.hpp"
#include "lab/models/norm_layer.hpp"
#include "lab/models/rounding.hpp"
#include "lab/training/low_precision.hpp"
#include "tiny_run.hpp"

namespace equinorm::lab {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// LibTorch's own conversions decide; every 4,099th float is one of each exponent and sign.
template <class Half>
void expect_conversion(NumberFormat format) {
  std::vector<float> values;
  for (std::uint64_t bits = 0; bits < 0x100000000; bits += 4099) {
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  for (const float x : {65519.0F, 65520.0F, 0x1p-25F, 0x1.8p-25F, 0x1.8p-24F, 2049.0F, 2051.0F}) {
    values.push_back(x);
  }
  std::vector<float> rounded = values;
  round_to(format, rounded.data(), static_cast<std::int64_t>(rounded.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto expected = static_cast<float>(static_cast<Half>(values[i]));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(rounded[i])) << values[i];
    } else {
      ASSERT_EQ(rounded[i], expected) << values[i];
      ASSERT_EQ(std::signbit(rounded[i]), std::signbit(expected)) << values[i];
    }
  }
}

TEST(Rounding, ValuesAreThoseOfTheFormats) {
  expect_conversion<c10::Half>(NumberFormat::f16);
  expect_conversion<c10::BFloat16>(NumberFormat::bf16);
}

TEST(Rounding, CountsWhatItDoes) {
  std::vector<float> values = {1, 0, 70000, -70000, 1e-6F, 1e-9F, kInfinity, NAN};
  const RoundingCounts counts =
      round_to(NumberFormat::f16, values.data(), static_cast<std::int64_t>(values.size()));
  EXPECT_EQ(counts.elements, 8);
  EXPECT_EQ(counts.overflows, 2);  // an infinity that was there is none
  EXPECT_EQ(counts.underflows, 1);
  EXPECT_EQ(counts.silent_zeros, 1);  // a 0 that was there is none
  EXPECT_EQ(counts.nans, 1);
}

bool is_half(const at::Tensor& x) { return at::equal(x, x.to(at::kHalf).to(at::kFloat)); }

TEST(Rounding, EveryOperationIsRoundedForwardAndBackward) {
  at::Tensor x = at::linspace(-3, 3, 64).view({4, 16});
  x.requires_grad_(true);
  const at::Tensor exact = at::softmax(x * 1.1, 1);
  Rounding rounding(NumberFormat::f16, true);
  at::Tensor y;
  {
    const Rounding::Scope scope(rounding);
    y = at::softmax(x * 1.1, 1);
    y.square().sum().backward();
  }
  EXPECT_TRUE(is_half(y));
  EXPECT_FALSE(is_half(exact));
  EXPECT_TRUE(is_half(x.grad()));
  EXPECT_FALSE(at::equal(y, exact));
  EXPECT_TRUE(at::allclose(y, exact, 2e-3));
  EXPECT_FALSE(is_half(at::softmax(x * 1.1, 1))) << "the scope has ended";
  const at::Tensor product = (x.detach() * 1.1).to(at::kHalf).to(at::kFloat);
  EXPECT_TRUE(at::equal(y, at::softmax(product, 1).to(at::kHalf).to(at::kFloat)));
}

TEST(Rounding, StorageRoundsWhatModulesStoreAlone) {
  at::Tensor x = at::linspace(-3, 3, 64);
  x.requires_grad_(true);
  Rounding rounding(NumberFormat::bf16, false);
  const Rounding::Scope scope(rounding);
  const at::Tensor inside = x * 1.1;
  const at::Tensor y = stored(inside);
  (y * 1.1).sum().backward();
  const auto is_bf16 = [](const at::Tensor& t) {
    return at::equal(t, t.to(at::kBFloat16).to(at::kFloat));
  };
  EXPECT_FALSE(is_bf16(inside));
  EXPECT_TRUE(is_bf16(y));
  // 1.1 is stored as the gradient of y and multiplied by 1.1 in f32 behind it.
  EXPECT_FLOAT_EQ(x.grad()[0].item<float>(), 1.1015625F * 1.1F);
}

TEST(Rounding, FullPrecisionExcludesOperations) {
  const at::Tensor x = at::linspace(-3, 3, 64);
  Rounding rounding(NumberFormat::f16, true);
  const Rounding::Scope scope(rounding);
  {
    const FullPrecision exact;
    EXPECT_FALSE(is_half(x * 1.1));
  }
  EXPECT_TRUE(is_half(x * 1.1));
}

// Deviations of 300 have squares beyond fp16's largest number: the composed norm divides by
// infinity and gives zeros, silently; the fused one keeps its inside in f32.
TEST(Rounding, AComposedNormLosesRowsThatAFusedOneKeeps) {
  const at::Tensor x = at::linspace(-300, 300, 64).view({1, 64});
  const auto output = [&](bool composed, Rounding& rounding) {
    ParameterStore parameters(1, at::kFloat);
    NormPlace place{"norm", 0, 64};
    place.choice.composed = composed;
    const auto norm = make_norm("layer", place, parameters);
    const Rounding::Scope scope(rounding);
    rounding.start_step(7);
    rounding.enter_layer(2);
    return normalize(norm, x, {}).detach();
  };
  Rounding fused(NumberFormat::f16, true);
  const at::Tensor exact = at::layer_norm(x, {64});
  EXPECT_TRUE(at::allclose(output(false, fused), exact, 1e-3));
  EXPECT_EQ(fused.first_not_finite(), "");
  Rounding composed(NumberFormat::f16, true);
  EXPECT_EQ(output(true, composed).abs().max().item<float>(), 0);
  EXPECT_EQ(composed.first_not_finite(), "layers.2.norm, forward, step 7");
}

TEST(Rounding, BackwardIsCountedForTheModuleThatMadeTheNode) {
  at::Tensor x = at::ones({8});
  x.requires_grad_(true);
  Rounding rounding(NumberFormat::f16, true);
  const Rounding::Scope scope(rounding);
  const ForwardContext context;
  rounding.start_step(1);
  rounding.enter_layer(0);
  at::Tensor y;
  {
    const Section section(context, Part::ffn);
    y = x * 1e-5;
  }
  {
    const Section section(context, Part::attention);
    y = y * 1e-4;  // 1e-9 vanishes here, its gradient of 1e-4 * 1e-5 in the ffn
  }
  y.sum().backward();
  EXPECT_EQ(rounding.first_silent_zero(), "layers.0.attention, forward, step 1");
  const auto& counts = rounding.counts();
  EXPECT_EQ(counts.at({0, Part::attention, false}).silent_zeros, 8);
  EXPECT_EQ(counts.at({0, Part::ffn, true}).silent_zeros, 8);
  EXPECT_EQ(counts.at({0, Part::attention, true}).silent_zeros, 0);
}

TEST(LossScale, HalvesOnOverflowAndGrowsAfterQuietSteps) {
  LossScale scale(1024);
  EXPECT_TRUE(scale.skips(false));
  EXPECT_EQ(scale.value(), 512);
  EXPECT_EQ(scale.skipped(), 1);
  for (int i = 0; i < 1999; ++i) EXPECT_FALSE(scale.skips(true));
  EXPECT_EQ(scale.value(), 512);
  EXPECT_FALSE(scale.skips(true));
  EXPECT_EQ(scale.value(), 1024);
  LossScale off(0);
  EXPECT_FALSE(off.skips(false));
  EXPECT_EQ(off.value(), 1);
}

RunOutcome run_in(const std::string& precision, const std::string& kernel, double scale,
                  const std::string& name, double learning_rate = 1e-2) {
  const TemporaryDirectory directory;
  RunConfig config = tiny_config(directory);
  config.precision = precision;
  config.norm_kernel = kernel;
  config.loss_scale = scale;
  config.learning_rate = learning_rate;
  return train(config, directory.path() / name);
}

TEST(LowPrecisionRun, EachPrecisionTrainsAndDiffers) {
  const double exact = run_in("fp32", "fused", 0, "run").result.final_loss;
  for (const char* precision : {"bf16_autocast", "bf16", "fp16", "bf16_storage", "fp16_storage"}) {
    const RunResult result = run_in(precision, "composed", 0, "run").result;
    EXPECT_EQ(result.failure, "") << precision;
    EXPECT_LT(result.final_loss, 0.9 * result.initial_loss) << precision;
    EXPECT_NE(result.final_loss, exact) << precision;
    EXPECT_NEAR(result.final_loss, exact, 0.1 * exact) << precision;
  }
}

TEST(LowPrecisionRun, LossScaleSavesGradients) {
  const RunResult plain = run_in("fp16", "fused", 0, "run").result;
  const RunResult scaled = run_in("fp16", "fused", 1024, "run").result;
  EXPECT_GT(plain.metrics.at("silent_zero_share"), 0);
  EXPECT_LT(scaled.metrics.at("silent_zero_share"), plain.metrics.at("silent_zero_share"));
  EXPECT_EQ(scaled.metrics.at("skipped_steps"), 0);
  EXPECT_THAT(plain.notes.at("first_silent_zero"),
              AllOf(HasSubstr("backward"), HasSubstr("step 1")));
  // The scale itself is no value of the format.
  const RunResult largest = run_in("fp16", "fused", 65536, "run").result;
  EXPECT_EQ(largest.notes.count("first_not_finite"), 0U);
  EXPECT_EQ(largest.metrics.at("skipped_steps"), 0);
  // Beyond fp16's range from the start: left out and halved until the gradients fit.
  const RunResult beyond = run_in("fp16", "fused", 0x1p30, "run").result;
  EXPECT_GT(beyond.metrics.at("skipped_steps"), 2);
  EXPECT_LT(beyond.metrics.at("loss_scale"), 0x1p30);
  EXPECT_NE(beyond.failure, "non-finite");
}

TEST(LowPrecisionRun, WeightsAreF32BehindAPass) {
  at::Tensor weight = at::full({3}, 1.1F);
  const std::vector<Parameter> parameters = {{"w", ParameterKind::out, 0, weight}};
  LowPrecision precision("fp16", parameters);
  {
    const LowPrecision::Pass pass(precision);
    EXPECT_TRUE(is_half(weight));
  }
  EXPECT_EQ(weight[0].item<float>(), 1.1F);
}

TEST(LowPrecisionRun, WrongSettingsAreNamed) {
  const TemporaryDirectory directory;
  const auto message = [&](auto&& change) {
    RunConfig config = tiny_config(directory);
    change(config);
    try {
      validate(config);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message([](RunConfig& c) { c.precision = "fp8"; }),
              StartsWith("precision = \"fp8\": must be one of fp32"));
  EXPECT_THAT(message([](RunConfig& c) { c.eps = -2; }), StartsWith("eps = -2.0"));
  EXPECT_THAT(message([](RunConfig& c) { c.loss_scale = -1; }), StartsWith("loss_scale = -1.0"));
  EXPECT_THAT(message([](RunConfig& c) {
                c.norm = "batch";
                c.norm_kernel = "composed";
              }),
              StartsWith("norm = \"batch\""));
  EXPECT_THAT(message([](RunConfig& c) {
                c.task = "packages";
                c.norm = "none";
                c.precision = "bf16";
              }),
              HasSubstr("precision = \"bf16\": must be fp32 with task packages"));
}

}  // namespace
}  // namespace equinorm::lab
