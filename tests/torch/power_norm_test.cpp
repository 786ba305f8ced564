// PowerNorm against the formulas of its released code, composed here of elementary operators, over
// steps with and without warm-up; masks, evaluation, and what is refused.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <vector>

#include "equinorm/torch/image_modules.hpp"
#include "image_checks.hpp"

namespace equinorm::tests {
namespace {

namespace eq = ::equinorm::torch;

constexpr std::int64_t kFeatures = 6;
constexpr double kEps = 1e-5;

/// The released code's state and one training step of it, x (tokens, features); `real` are the
/// tokens that its statistics are of.
struct Released {
  at::Tensor phi = at::ones({kFeatures}, at::kDouble);
  at::Tensor ema = at::zeros({kFeatures}, at::kDouble);
  double forward_weight = 0.9;
  double backward_weight = 0.9;
  std::int64_t warmup = 0;
  std::int64_t iteration = 0;

  Outcome step(const at::Tensor& x, const at::Tensor& real, const at::Tensor& weight,
               const at::Tensor& bias, const at::Tensor& dy) {
    iteration += 1;
    const auto n = static_cast<double>(iteration);
    const auto batch = (real * real).mean(0);
    const auto z = x / ((iteration <= warmup ? batch : phi) + kEps).sqrt();
    if (iteration < warmup) phi = phi * (n - 1) / n + batch / n;
    phi = forward_weight * phi + (1 - forward_weight) * batch;
    const auto g = dy * weight;
    const auto approximate = g - (1 - backward_weight) * ema * z;
    ema = ema + (approximate * z).mean(0);
    return {z * weight + bias, approximate / (batch + kEps).sqrt(), (dy * z).sum(0), dy.sum(0)};
  }
};

struct Averages {
  at::Tensor phi = at::ones({1, kFeatures, 1, 1}, at::kDouble);
  at::Tensor ema = at::zeros({1, kFeatures, 1, 1}, at::kDouble);
};

TEST(PowerNorm, FollowsTheReleasedCodeOverWarmUpAndAfter) {
  for (const std::int64_t warmup : {0, 1, 3, 100}) {
    for (const bool masked : {false, true}) {
      Released released;
      released.warmup = warmup;
      const Averages averages;
      const Affine a(3, kFeatures, at::kDouble);
      for (std::int64_t iteration = 1; iteration <= 6; ++iteration) {
        SCOPED_TRACE(::testing::Message() << warmup << masked << " step " << iteration);
        const auto seed = 700 + static_cast<std::uint64_t>(iteration);
        const auto x = normal({3, 5, kFeatures}, at::kDouble, seed, 0.2, 1.5);
        const auto dy = normal({3, 5, kFeatures}, at::kDouble, seed + 20);
        const auto mask =
            masked ? normal({3, 5}, at::kDouble, seed + 40).gt(-0.5) : at::ones({3, 5}, at::kBool);
        const ImageNorm ours = [&](const auto& t, const auto& w, const auto& b) {
          return eq::power_norm(t, averages.phi, averages.ema, w, b,
                                {.iteration = iteration, .warmup_iters = warmup},
                                masked ? mask : at::Tensor());
        };
        auto want =
            released.step(x.flatten(0, 1), x.index({mask}), a.weight, a.bias, dy.flatten(0, 1));
        want.y = want.y.view_as(x);
        want.dx = want.dx.view_as(x);
        expect_close(outcome_of(ours, x, a.weight, a.bias, dy), want);
        expect_close(averages.phi.flatten(), released.phi, "running_phi");
        expect_close(averages.ema.flatten(), released.ema, "ema_gz");
      }
    }
  }
}

TEST(PowerNorm, OutsideTrainingItUsesTheRunningMeanSquareAndIsExact) {
  const Averages averages;
  averages.phi.copy_(normal({1, kFeatures, 1, 1}, at::kDouble, 750).abs() + 0.1);
  const Averages before{averages.phi.clone(), averages.ema.clone()};
  const auto x = normal({3, 5, kFeatures}, at::kDouble, 751);
  const auto dy = normal({3, 5, kFeatures}, at::kDouble, 752);
  const Affine a(3, kFeatures, at::kDouble);
  const ImageNorm ours = [&](const auto& t, const auto& w, const auto& b) {
    return eq::power_norm(t, averages.phi, averages.ema, w, b, {.training = false});
  };
  const ImageNorm theirs = [&](const auto& t, const auto& w, const auto& b) {
    return t / (before.phi.flatten() + kEps).sqrt() * w + b;
  };
  expect_close(outcome_of(ours, x, a.weight, a.bias, dy),
               outcome_of(theirs, x, a.weight, a.bias, dy));
  EXPECT_TRUE(same_bits(averages.phi, before.phi));
  EXPECT_TRUE(same_bits(averages.ema, before.ema));
}

TEST(PowerNorm, NarrowTypesRoundWhatDoubleComputes) {
  for (const auto type : {at::kFloat, at::kHalf, at::kBFloat16}) {
    const auto x = normal({40, kFeatures}, type, 753, 0.3);
    const Affine a(3, kFeatures, type);
    const auto phi = at::ones({kFeatures});
    const auto y = eq::power_norm(x, phi, at::zeros({kFeatures}), a.weight, a.bias,
                                  {.iteration = 1, .warmup_iters = 1});
    const auto wide = x.to(at::kDouble);
    const auto psi2 = wide.square().mean(0).to(at::kFloat).to(at::kDouble);
    const auto z = wide / (psi2 + kEps).sqrt();
    const auto want = z * a.weight.to(at::kDouble) + a.bias.to(at::kDouble);
    const auto scale =
        z.abs().amax(0) * a.weight.to(at::kDouble).abs() + a.bias.to(at::kDouble).abs();
    EXPECT_LE(scale_ulps(y.t(), numbers(want.t()), numbers(scale)), 3) << type;
  }
}

TEST(PowerNorm, TheModuleScalesTokensAndCountsItsSteps) {
  eq::PowerNorm norm(eq::PowerNormOptions(kFeatures).warmup_iters(2).group_num(2));
  norm->to(at::kDouble);
  EXPECT_EQ(norm->named_buffers().keys(),
            std::vector<std::string>({"running_phi", "ema_gz", "iters"}));
  Released released;
  released.warmup = 2;
  const auto unit = at::ones({kFeatures}, at::kDouble);
  for (std::uint64_t step = 1; step <= 4; ++step) {
    const auto x = normal({3, 5, kFeatures}, at::kDouble, 760 + step, 0.4);
    const auto dy = normal({3, 5, kFeatures}, at::kDouble, 770 + step);
    const auto grouped = x.view({3, 5, 2, kFeatures / 2});
    const auto scaled =
        (grouped / (grouped.square().mean(-1, true) + 1e-5).sqrt()).view({15, kFeatures});
    const auto y = norm(x);
    EXPECT_EQ(norm->iters.item<std::int64_t>(), static_cast<std::int64_t>(step));
    y.backward(dy);
    const auto want = released.step(scaled, scaled, unit, at::zeros_like(unit), dy.flatten(0, 1));
    expect_close(y.detach().flatten(0, 1), want.y, "y");
    expect_close(norm->running_phi.flatten(), released.phi, "running_phi");
    expect_close(norm->ema_gz.flatten(), released.ema, "ema_gz");
  }
  norm->eval();
  norm(normal({2, kFeatures}, at::kDouble, 780));
  EXPECT_EQ(norm->iters.item<std::int64_t>(), 4);
}

TEST(PowerNorm, WithoutATokenNothingIsRecorded) {
  const Averages averages;
  const auto x = normal({2, kFeatures}, at::kDouble, 781);
  eq::power_norm(x, averages.phi, averages.ema, {}, {}, {}, at::zeros({2}, at::kBool));
  const auto empty = leaf(at::zeros({0, kFeatures}, at::kDouble));
  eq::power_norm(empty, averages.phi, averages.ema).sum().backward();
  EXPECT_TRUE(same_bits(averages.phi, Averages().phi));
  EXPECT_TRUE(same_bits(averages.ema, Averages().ema));
}

TEST(PowerNorm, RefusesSecondDerivativesInTrainingAndWhatDoesNotFit) {
  const Averages averages;
  const auto x = leaf(normal({4, kFeatures}, at::kDouble, 782));
  const auto y = eq::power_norm(x, averages.phi, averages.ema);
  EXPECT_THROW(::torch::autograd::grad({y.sum()}, {x}, {}, true, /*create_graph=*/true),
               c10::Error);
  const auto call = [&](const eq::PowerNormStep& step) {
    eq::power_norm(x, averages.phi, averages.ema, {}, {}, step);
  };
  EXPECT_THROW(call({.iteration = 0}), c10::Error);
  EXPECT_THROW(call({.alpha_fwd = 1.5}), c10::Error);
  EXPECT_THROW(call({.alpha_bkw = -0.1}), c10::Error);
  EXPECT_THROW(call({.eps = -1}), c10::Error);
  EXPECT_THROW(eq::power_norm(x, at::ones({5}, at::kDouble), averages.ema), c10::Error);
  EXPECT_THROW(eq::power_norm(x, averages.phi, {}), c10::Error);
  EXPECT_THROW(eq::PowerNorm(eq::PowerNormOptions(kFeatures).group_num(4)), c10::Error);
}

}  // namespace
}  // namespace equinorm::tests
