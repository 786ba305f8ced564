// Residual blocks in every order with every norm against compositions in f64, and the whole
// networks: their shapes, their sizes and their gradients.
#include "lab/models/resnet.hpp"

#include <gtest/gtest.h>

#include "image_compositions.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

std::vector<std::pair<std::string, std::string>> arms() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& order : block_order_names()) {
    for (const std::string& norm : image_norm_names()) all.emplace_back(order, norm);
  }
  return all;
}

class EveryResNet : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

struct Shape {
  std::int64_t inputs, outputs, stride;
};

// The orders of resnet.hpp, written down once more from its comment.
at::Tensor composed_block(const std::string& order, const std::string& norm, const Shape& shape,
                          const at::Tensor& x, const ParameterStore& parameters) {
  const auto conv = [&](const char* name, const at::Tensor& t, std::int64_t stride) {
    return composed_convolution(t, stride, parameters, std::string("b.") + name);
  };
  const auto normed = [&](const char* name, const at::Tensor& t) {
    return composed_norm(norm, t, 2, parameters, std::string("b.") + name);
  };
  const bool projects = shape.stride != 1 || shape.inputs != shape.outputs;
  if (order == "pre_activation") {
    const at::Tensor start = normed("norm1", x).relu();
    const at::Tensor inner = normed("norm2", conv("conv1", start, shape.stride)).relu();
    return conv("conv2", inner, 1) + (projects ? conv("projection", start, shape.stride) : x);
  }
  const at::Tensor shortcut =
      projects ? normed("projection_norm", conv("projection", x, shape.stride)) : x;
  if (order == "conv_norm_act") {
    const at::Tensor inner = normed("norm1", conv("conv1", x, shape.stride)).relu();
    return (normed("norm2", conv("conv2", inner, 1)) + shortcut).relu();
  }
  const at::Tensor inner = normed("norm1", conv("conv1", x, shape.stride).relu());
  return normed("norm2", conv("conv2", inner, 1).relu()) + shortcut;
}

TEST_P(EveryResNet, HasBlocksThatMatchTheirFormulaForwardAndBackward) {
  const auto& [order, norm] = GetParam();
  for (const Shape shape : {Shape{4, 4, 1}, Shape{4, 6, 2}, Shape{4, 6, 1}}) {
    SCOPED_TRACE(::testing::Message() << shape.outputs << " channels, stride " << shape.stride);
    ParameterStore parameters(1, at::kDouble);
    const ResNetBlock block("b", 0,
                            {.norm = norm,
                             .order = block_order(order),
                             .inputs = shape.inputs,
                             .outputs = shape.outputs,
                             .stride = shape.stride,
                             .height = 5,
                             .width = 6,
                             .groups = 2},
                            parameters);
    disturb(parameters);
    const at::Tensor x = random_tensor({3, 4, 5, 6}, 1).requires_grad_();
    expect_same([&] { return std::vector{block.forward(x, true)}; },
                [&] { return std::vector{composed_block(order, norm, shape, x, parameters)}; },
                named(parameters, {{"x", x}}));
  }
}

TEST_P(EveryResNet, ScoresImagesAndHasAGradientInEveryParameter) {
  const auto& [order, norm] = GetParam();
  const ResNet net({.norm = norm, .order = order, .seed = 3, .dtype = at::kDouble});
  const at::Tensor scores = net.forward(random_tensor({2, 1, 28, 28}, 1), true);
  ASSERT_EQ(scores.sizes(), at::IntArrayRef({2, 10}));
  at::cross_entropy_loss(scores, at::arange(2)).backward();
  for (const Parameter& p : net.parameters().all()) {
    ASSERT_TRUE(p.value.grad().defined()) << p.name;
    EXPECT_GT(p.value.grad().abs().max().item<double>(), 0) << p.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Arms, EveryResNet, ::testing::ValuesIn(arms()),
                         [](const auto& arm) { return arm.param.first + "_" + arm.param.second; });

int convolutions(const ResNet& net) {
  int count = 0;
  for (const Parameter& p : net.parameters().all()) count += p.value.dim() == 4 ? 1 : 0;
  return count;
}

TEST(ResNet, HasEightOrFourteenLayersWithWeights) {
  // Stem, two per block and the head; two projections come on top.
  EXPECT_EQ(convolutions(ResNet({})) - 2 + 1, 8);
  EXPECT_EQ(convolutions(ResNet({.blocks = 2})) - 2 + 1, 14);
}

TEST(ResNet, StartsFromTheSameConvolutionsWithEveryNorm) {
  const ResNet plain({.norm = "none", .seed = 3});
  for (const std::string& norm : image_norm_names()) {
    const ResNet net({.norm = norm, .seed = 3});
    for (const Parameter& p : net.parameters().all()) {
      if (p.value.dim() != 4) continue;
      EXPECT_TRUE(at::equal(p.value, find(plain.parameters(), p.name))) << norm << " " << p.name;
    }
  }
}

TEST(ResNet, HasTheGradientsOfFiniteDifferences) {
  const ResNet net({.norm = "layer_2d",
                    .order = "pre_activation",
                    .width = 2,
                    .size = 4,
                    .outputs = 3,
                    .seed = 3,
                    .dtype = at::kDouble});
  disturb(net.parameters(), 0.1);
  const at::Tensor images = random_tensor({2, 1, 4, 4}, 1).requires_grad_();
  expect_finite_differences(
      [&] { return at::cross_entropy_loss(net.forward(images, true), at::arange(2)); },
      named(net.parameters(), {{"images", images}}));
}

TEST(ResNet, RefusesUnknownOrders) {
  EXPECT_THROW(ResNet({.order = "norm_conv_act"}), UsageError);
  EXPECT_THROW(ResNet({.norm = "layer"}), UsageError);
}

}  // namespace
}  // namespace equinorm::lab
