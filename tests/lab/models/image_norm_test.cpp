// Every image norm against its formula, forward and backward, in f64; and the ConvNeXt block.
#include "lab/models/image_norm.hpp"

#include <gtest/gtest.h>

#include "image_compositions.hpp"
#include "lab/error.hpp"
#include "lab/models/convnext.hpp"

namespace equinorm::lab {
namespace {

class EveryImageNorm : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryImageNorm, MatchesItsFormulaForwardAndBackward) {
  ParameterStore parameters(1, at::kDouble);
  const auto norm = make_image_norm(GetParam(), {"norm", 0, 6, 3, 5, 2}, parameters);
  disturb(parameters);
  const at::Tensor x = random_tensor({4, 6, 3, 5}, 1).add_(2).requires_grad_();
  expect_same([&] { return std::vector{normalize(norm, x, true).contiguous()}; },
              [&] { return std::vector{composed_norm(GetParam(), x, 2, parameters, "norm") * 1}; },
              named(parameters, {{"x", x}}));
}

TEST_P(EveryImageNorm, TakesChannelsLastImages) {
  ParameterStore parameters(1, at::kDouble);
  const auto norm = make_image_norm(GetParam(), {"norm", 0, 6, 3, 5, 2}, parameters);
  disturb(parameters);
  const at::NoGradGuard no_grad;
  const at::Tensor x = random_tensor({4, 6, 3, 5}, 1);
  const at::Tensor last = x.contiguous(at::MemoryFormat::ChannelsLast);
  expect_close(normalize(norm, last, true), composed_norm(GetParam(), x, 2, parameters, "norm"),
               "channels last");
}

TEST_P(EveryImageNorm, ButBatchTreatsAnImageAlikeInAnyBatch) {
  if (GetParam() == "batch") return;
  ParameterStore parameters(1, at::kDouble);
  const auto norm = make_image_norm(GetParam(), {"norm", 0, 6, 3, 5, 2}, parameters);
  const at::NoGradGuard no_grad;
  const at::Tensor x = random_tensor({4, 6, 3, 5}, 1);
  EXPECT_TRUE(
      at::equal(normalize(norm, x.slice(0, 2, 3), true), normalize(norm, x, true).slice(0, 2, 3)));
}

TEST_P(EveryImageNorm, FitsIntoAConvNextBlock) {
  ParameterStore parameters(1, at::kDouble);
  const ConvNextBlock block(
      "b", 0, {.norm = GetParam(), .channels = 4, .height = 5, .width = 6, .groups = 2},
      parameters);
  disturb(parameters);
  const at::Tensor x = random_tensor({3, 4, 5, 6}, 1).requires_grad_();
  const auto composed = [&] {
    at::Tensor y = composed_convolution(x, 1, parameters, "b.depthwise");
    y = composed_convolution(composed_norm(GetParam(), y, 2, parameters, "b.norm"), 1, parameters,
                             "b.expand");
    y = 0.5 * y * (1 + (y / std::sqrt(2.0)).erf());
    y = composed_convolution(y, 1, parameters, "b.reduce");
    return std::vector{x + find(parameters, "b.layer_scale").view({-1, 1, 1}) * y};
  };
  expect_same([&] { return std::vector{block.forward(x, true)}; }, composed,
              named(parameters, {{"x", x}}));
}

INSTANTIATE_TEST_SUITE_P(Names, EveryImageNorm, ::testing::ValuesIn(image_norm_names()),
                         [](const auto& name) { return name.param; });

TEST(ImageNorms, AreAllListed) {
  const std::vector<std::string> want = {"none",     "batch",     "group",
                                         "instance", "layer_chw", "layer_2d"};
  EXPECT_EQ(image_norm_names(), want);
  ParameterStore parameters(1, at::kDouble);
  EXPECT_THROW(make_image_norm("layer", {"norm", 0, 6, 3, 5, 2}, parameters), UsageError);
  EXPECT_THROW(make_image_norm("group", {"norm", 0, 6, 3, 5, 4}, parameters), UsageError);
  EXPECT_THROW(make_image_norm("group", {"norm", 0, 6, 3, 5, 0}, parameters), UsageError);
}

TEST(BatchImageNorm, EvaluatesWithItsAverages) {
  ParameterStore parameters(1, at::kDouble);
  const auto norm = make_image_norm("batch", {"norm", 0, 2, 3, 3}, parameters);
  const at::NoGradGuard no_grad;
  const at::Tensor x = random_tensor({4, 2, 3, 3}, 1).add_(3);
  (void)norm->forward(x, true);
  const at::Tensor mean = 0.1 * x.mean({0, 2, 3}, true);
  const at::Tensor variance = 0.9 + 0.1 * x.var({0, 2, 3}, /*unbiased=*/true, true);
  expect_close(norm->forward(x, false), (x - mean) / (variance + 1e-5).sqrt(), "evaluation");
}

TEST(ConvNextBlock, StartsAsTheIdentityButForItsLayerScale) {
  ParameterStore parameters(1, at::kDouble);
  const ConvNextBlock block("b", 0, {.channels = 4}, parameters);
  const at::NoGradGuard no_grad;
  const at::Tensor x = random_tensor({2, 4, 8, 8}, 1);
  const double change = (block.forward(x, true) - x).abs().max().item<double>();
  EXPECT_GT(change, 0);
  EXPECT_LT(change, 1e-4);
  EXPECT_EQ(find(parameters, "b.layer_scale")[0].item<double>(), 1e-6);
  EXPECT_EQ(find(parameters, "b.depthwise.weight").sizes(), at::IntArrayRef({4, 1, 7, 7}));
  EXPECT_EQ(find(parameters, "b.expand.weight").sizes(), at::IntArrayRef({16, 4, 1, 1}));
}

}  // namespace
}  // namespace equinorm::lab
