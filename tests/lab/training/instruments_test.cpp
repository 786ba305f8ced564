// Instruments, optimizer and time split against answers known beforehand.
#include "lab/training/instruments.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "lab/training/activation_probe.hpp"
#include "lab/training/clock.hpp"
#include "lab/training/time_splitter.hpp"

namespace equinorm::lab {
namespace {

TEST(ActivationProbe, MeasuresKnownTensors) {
  ActivationProbe probe(2);
  const at::Tensor stream = at::tensor({3.0F, -4.0F, 0.0F, 0.0F});
  probe.saw_branch(1, stream * 2, stream);
  probe.saw_branch(1, stream * 4, stream);
  probe.saw_layer(1, stream);
  EXPECT_DOUBLE_EQ(probe.rms()[1], 2.5);
  EXPECT_EQ(probe.max()[1], 4.0);
  EXPECT_DOUBLE_EQ(probe.branch_ratio()[1], 3.0);
  EXPECT_EQ(probe.rms()[0], 0.0);
}

TEST(ActivationProbe, SurvivesStreamsWhoseSquaresOverflow) {
  ActivationProbe probe(1);
  probe.saw_layer(0, at::full({4}, 1e30F));
  EXPECT_DOUBLE_EQ(probe.rms()[0], static_cast<double>(1e30F));
}

TEST(GradientNormsByLayer, CombinesNormsOfOneKindAndLayer) {
  const at::Tensor none;
  const std::vector<Parameter> parameters = {
      {"embedding.weight", ParameterKind::embedding, -1, none},
      {"layers.0.qkv.weight", ParameterKind::qkv, 0, none},
      {"layers.0.qkv.bias", ParameterKind::qkv, 0, none},
      {"layers.0.norm1.gamma", ParameterKind::gamma, 0, none},
      {"layers.1.qkv.weight", ParameterKind::qkv, 1, none},
      {"head.weight", ParameterKind::head, -1, none}};
  const auto json = gradient_norms_by_layer(parameters, {0, {7, 3, 4, 12, 5, 2}}, 2);
  EXPECT_EQ(json.at("embedding"), 7.0);
  EXPECT_EQ(json.at("head"), 2.0);
  EXPECT_TRUE(json.at("final_norm").is_null());
  const auto& layer = json.at("layers").at(0);
  EXPECT_EQ(layer.at("qkv"), 5.0);
  EXPECT_EQ(layer.at("gamma"), 12.0);
  EXPECT_TRUE(layer.at("beta").is_null());
  EXPECT_EQ(layer.at("total"), 13.0);
  EXPECT_EQ(json.at("layers").at(1).at("total"), 5.0);
}

std::vector<Parameter> parameters_with_gradients(const std::vector<std::vector<float>>& gradients) {
  std::vector<Parameter> parameters;
  for (const auto& gradient : gradients) {
    const at::Tensor value =
        at::ones({static_cast<std::int64_t>(gradient.size())}).set_requires_grad(true);
    if (!gradient.empty()) value.mutable_grad() = at::tensor(gradient);
    parameters.push_back({"p", ParameterKind::fc1, 0, value});
  }
  return parameters;
}

TEST(Adam, TakesNormsPerParameterAndInTotal) {
  Adam adam(parameters_with_gradients({{3, 4}, {12}}));
  const GradientNorms norms = adam.gradient_norms();
  EXPECT_EQ(norms.per_parameter, (std::vector<double>{5, 12}));
  EXPECT_EQ(norms.total, 13.0);
  adam.scale_gradients(0.5);
  EXPECT_EQ(adam.gradient_norms().total, 6.5);
}

TEST(Adam, FirstStepIsTheLearningRateInTheDirectionOfTheSign) {
  const auto parameters = parameters_with_gradients({{0.5F, -2e-3F, 0.0F}});
  Adam adam(parameters);
  adam.step(0.01);
  const at::Tensor moved = parameters[0].value.detach() - 1;
  // lr g / (|g| + eps): eps / |g| is at most 5e-6; f32 near 1 has steps of 2^-24 below it.
  const double tolerance = 0.01 * 5e-6 + 0x1p-23;
  EXPECT_NEAR(moved[0].item<double>(), -0.01, tolerance);
  EXPECT_NEAR(moved[1].item<double>(), 0.01, tolerance);
  EXPECT_EQ(moved[2].item<double>(), 0.0);
  EXPECT_FALSE(parameters[0].value.grad().defined());
}

// Adam as its paper writes it, in f64.
TEST(Adam, FollowsThePapersFormulaOverManySteps) {
  const auto parameters = parameters_with_gradients({{0}});
  Adam adam(parameters);
  double theta = 1;
  double m = 0;
  double v = 0;
  for (int t = 1; t <= 50; ++t) {
    const double g = std::sin(0.7 * t);
    parameters[0].value.mutable_grad() = at::tensor({static_cast<float>(g)});
    adam.step(1e-2);
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    const double m_hat = m / (1 - std::pow(0.9, t));
    const double v_hat = v / (1 - std::pow(0.999, t));
    theta -= 1e-2 * m_hat / (std::sqrt(v_hat) + 1e-8);
  }
  // Each step rounds theta (below 2) once and the update (1e-2 at most) a few times, in f32.
  EXPECT_NEAR(parameters[0].value.item<double>(), theta, 50 * (0x1p-24 + 8e-2 * 0x1p-24));
}

TEST(TimeSplitter, GivesABackwardNodeToThePartThatMadeIt) {
  const Stopwatch watch;  // around all that the splitter measures
  TimeSplitter splitter;
  const at::Tensor x = at::randn({64, 64}).set_requires_grad(true);
  splitter.begin(Part::norm);
  const at::Tensor a = x * 2;
  splitter.end(Part::norm);
  splitter.begin(Part::ffn);
  const at::Tensor b = a.matmul(x);
  splitter.end(Part::ffn);
  const at::Tensor loss = b.sum();  // outside: other

  splitter.start_backward();
  loss.backward();
  splitter.stop_backward();
  // Known times instead of clock readings: numbers below are added to what the clock said.
  splitter.add_node(static_cast<std::int64_t>(a.grad_fn()->sequence_nr()), 1.0);
  splitter.add_node(static_cast<std::int64_t>(b.grad_fn()->sequence_nr()), 2.0);
  splitter.add_node(static_cast<std::int64_t>(loss.grad_fn()->sequence_nr()), 4.0);
  splitter.add_optimizer(1.0);
  splitter.finish_step(8.0);
  const TimeSplit split = splitter.split();
  const double clock_share = watch.seconds() / 8;
  EXPECT_GT(split.ffn, 2.0 / 8);  // the clock saw its node too
  EXPECT_NEAR(split.norm, 1.0 / 8, clock_share);
  EXPECT_NEAR(split.ffn, 2.0 / 8, clock_share);
  EXPECT_EQ(split.attention, 0);
  EXPECT_EQ(split.optimizer, 1.0 / 8);
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwo) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({}), 0);
}

}  // namespace
}  // namespace equinorm::lab
