// The norms of models that are operators of their own, against their formulas in elementary
// operators: values, gradients and what they keep from step to step, with and without padding.
//
// Not here: forms of row norm (tests/torch). The one trap: a norm over a batch is changed by every
// training pass, so each side of a comparison has a layer of its own.
#include <gtest/gtest.h>

#include "block_checks.hpp"
#include "equinorm/operator_forms.hpp"
#include "lab/error.hpp"
#include "lab/models/norm_layer.hpp"

namespace equinorm::lab {
namespace {

constexpr std::int64_t kSamples = 5;
constexpr std::int64_t kTokens = 3;
constexpr std::int64_t kWidth = 4;

struct Layer {
  ParameterStore parameters{3, at::kDouble};
  std::unique_ptr<NormLayer> norm;

  explicit Layer(const std::string& name, double gain = 1)
      : norm(make_norm(name, {"n", 0, kWidth, gain}, parameters)) {}
  [[nodiscard]] at::Tensor get(const std::string& name) const {
    return find(parameters, "n." + name);
  }
};

at::Tensor stream(std::uint64_t seed) {
  return (random_tensor({kSamples * kTokens, kWidth}, seed) * 1.5 + 0.3).requires_grad_();
}

// True for real tokens; two samples end early.
at::Tensor mask_of(bool padded) {
  at::Tensor mask = at::ones({kSamples, kTokens}, at::kBool);
  if (padded) {
    mask[1][2] = false;
    mask[4].slice(0, 1).fill_(false);
  }
  return mask;
}

ForwardContext context_of(bool training, const at::Tensor& mask, std::int64_t warmup = 0) {
  ForwardContext context;
  context.training = training;
  context.warmup_steps = warmup;
  return for_tokens(context, mask.size(1), mask);
}

at::Tensor layer_norm(const at::Tensor& x) {
  const at::Tensor centered = x - x.mean(-1, true);
  return centered / (centered.square().mean(-1, true) + 1e-5).sqrt();
}

TEST(NormLayer, DyTIsATanhWithAlphaOneHalfAtTheStart) {
  const Layer layer("DyT", 0.5);
  EXPECT_TRUE(at::equal(layer.get("alpha"), at::full({1}, 0.5, at::kDouble)));
  EXPECT_TRUE(at::equal(layer.get("gamma"), at::full({kWidth}, 0.5, at::kDouble)));
  disturb(layer.parameters);
  const at::Tensor x = stream(1);
  expect_same([&] { return std::vector{layer.norm->forward(x, {})}; },
              [&] {
                return std::vector{(layer.get("alpha") * x).tanh() * layer.get("gamma") +
                                   layer.get("beta")};
              },
              named(layer.parameters, {{"x", x}}));
}

TEST(NormLayer, BlendedLayerNormStartsAsLayerNormAndBlendsByAlpha) {
  const Layer layer("BlendedLayerNorm");
  const at::Tensor x = stream(2);
  expect_close(layer.norm->forward(x, {}), layer_norm(x), "at the start");
  disturb(layer.parameters);
  expect_same([&] { return std::vector{layer.norm->forward(x, {})}; },
              [&] {
                const at::Tensor alpha = layer.get("alpha");
                const at::Tensor y = layer_norm(x) * layer.get("gamma") + layer.get("beta");
                return std::vector{alpha * y + (1 - alpha) * x};
              },
              named(layer.parameters, {{"x", x}}));
}

// Batch normalization of each token's place, over the real tokens there.
struct PerStepFormula {
  at::Tensor mean = at::zeros({kTokens, kWidth}, at::kDouble);
  at::Tensor variance = at::ones({kTokens, kWidth}, at::kDouble);

  at::Tensor operator()(const Layer& layer, const at::Tensor& x, const at::Tensor& mask,
                        bool training) {
    const at::Tensor steps = x.view({kSamples, kTokens, kWidth});
    std::vector<at::Tensor> parts;
    for (std::int64_t t = 0; t < kTokens; ++t) {
      at::Tensor mu = mean[t].clone();
      at::Tensor v = variance[t].clone();
      const at::Tensor real = mask.select(1, t).to(at::kDouble).unsqueeze(1);
      if (training) {
        const at::Tensor n = real.sum();
        mu = (steps.select(1, t) * real).sum(0) / n;
        v = ((steps.select(1, t) - mu).square() * real).sum(0) / n;
        mean[t].lerp_(mu.detach(), 0.1);
        variance[t].lerp_((v * n / (n - 1)).detach(), 0.1);
      }
      const at::Tensor y = (steps.select(1, t) - mu) / (v + 1e-5).sqrt();
      const at::Tensor affine = y * layer.get("gamma") + layer.get("beta");
      parts.push_back(training ? affine * real : affine);
    }
    return at::stack(parts, 1).view(x.sizes());
  }
};

TEST(NormLayer, PerStepBatchNormHasStatisticsOfEachPlaceAlone) {
  for (const bool padded : {false, true}) {
    SCOPED_TRACE(padded);
    const Layer layer("PerStepBatchNorm");
    disturb(layer.parameters);
    PerStepFormula formula;
    const at::Tensor mask = padded ? mask_of(true) : at::ones({kSamples, kTokens}, at::kBool);
    for (const bool training : {true, true, true, false}) {
      const at::Tensor x = stream(training ? 3 : 4);
      const ForwardContext context =
          padded ? context_of(training, mask) : for_tokens({training}, kTokens, {});
      expect_same([&] { return std::vector{layer.norm->forward(x, context)}; },
                  [&] { return std::vector{formula(layer, x, mask, training)}; },
                  named(layer.parameters, {{"x", x}}));
    }
  }
}

TEST(NormLayer, PerStepBatchNormCountsPlacesFromTheFirstTokenAndReusesTheLast) {
  const at::NoGradGuard no_grad;
  const Layer layer("PerStepBatchNorm");
  static_cast<void>(layer.norm->forward(stream(5), for_tokens({true}, kTokens, {})));
  const at::Tensor x = random_tensor({2, 6, kWidth}, 6);
  const auto run = [&](const at::Tensor& tokens, std::int64_t first) {
    return layer.norm->forward(tokens.reshape({-1, kWidth}), for_step(tokens.size(1), first))
        .view(tokens.sizes());
  };
  const at::Tensor whole = run(x, 0);
  EXPECT_TRUE(at::equal(run(x.slice(1, 1, 3), 1), whole.slice(1, 1, 3)));
  EXPECT_TRUE(at::equal(run(x.slice(1, 4), 4), whole.slice(1, 4)));
  EXPECT_TRUE(at::equal(run(x.slice(1, 4, 5), 4), run(x.slice(1, 4, 5), 2)));
  EXPECT_FALSE(at::equal(run(x.slice(1, 4, 5), 4), run(x.slice(1, 4, 5), 1)));
  EXPECT_THROW(static_cast<void>(layer.norm->forward(stream(5), {})), UsageError);
}

// One step of Shen 2020's code, forward and backward.
struct PowerFormula {
  at::Tensor phi = at::ones({kWidth}, at::kDouble);
  at::Tensor ema = at::zeros({kWidth}, at::kDouble);
  int iteration = 0;

  // y, dx, dgamma, dbeta
  std::vector<at::Tensor> operator()(const Layer& layer, const at::Tensor& x,
                                     const at::Tensor& mask, const at::Tensor& dy, int warmup) {
    ++iteration;
    const at::Tensor real = mask.flatten().to(at::kDouble).unsqueeze(1);
    const at::Tensor n = real.sum();
    const at::Tensor psi2 = (x.square() * real).sum(0) / n;
    const at::Tensor z = x / ((iteration <= warmup ? psi2 : phi) + 1e-5).sqrt();
    if (iteration < warmup) phi = ((iteration - 1) * phi + psi2) / iteration;
    phi = 0.9 * phi + 0.1 * psi2;
    const at::Tensor a = dy * layer.get("gamma") - 0.1 * ema * z;
    ema = ema + (a * z * real).sum(0) / n;
    return {z * layer.get("gamma") + layer.get("beta"), a / (psi2 + 1e-5).sqrt(), (dy * z).sum(0),
            dy.sum(0)};
  }
};

TEST(NormLayer, PowerNormKeepsItsAveragesOverWarmUpAndTraining) {
  for (const int warmup : {0, 3}) {
    SCOPED_TRACE(warmup);
    const Layer layer("PowerNorm");
    disturb(layer.parameters);
    PowerFormula formula;
    const at::Tensor mask = at::ones({kSamples, kTokens}, at::kBool);
    for (std::uint64_t step = 0; step < 6; ++step) {
      const at::Tensor x = stream(20 + step);
      const at::Tensor dy = random_tensor(x.sizes(), 40 + step);
      const at::Tensor y = layer.norm->forward(x, context_of(true, mask, warmup));
      const auto got = torch::autograd::grad({y}, {x, layer.get("gamma"), layer.get("beta")}, {dy});
      const at::NoGradGuard no_grad;
      const auto want = formula(layer, x, mask, dy, warmup);
      expect_close(y, want[0], "y");
      for (std::size_t i = 0; i < 3; ++i) expect_close(got[i], want[i + 1], std::to_string(i));
    }
    const at::Tensor x = stream(30);
    expect_same([&] { return std::vector{layer.norm->forward(x, {})}; },
                [&] {
                  return std::vector{x / (formula.phi + 1e-5).sqrt() * layer.get("gamma") +
                                     layer.get("beta")};
                },
                named(layer.parameters, {{"x", x}}));
  }
}

TEST(NormLayer, PowerNormCountsRealTokensAlone) {
  const at::NoGradGuard no_grad;
  const Layer padded("PowerNorm");
  const Layer shorter("PowerNorm");
  const at::Tensor x = stream(7);
  const at::Tensor mask = mask_of(true);
  const at::Tensor real = x.index({mask.flatten()});
  for (int step = 0; step < 3; ++step) {
    const at::Tensor y = padded.norm->forward(x, context_of(true, mask));
    const at::Tensor want = shorter.norm->forward(real, for_tokens({true}, 1, {}));
    expect_close(y.index({mask.flatten()}), want, "y");
  }
}

TEST(NormLayer, OfAnOperatorIsOneThatModelsKnow) {
  const std::vector<std::string>& names = norm_names();
  int known = 0;
  for (const OperatorForm& form : kOperatorForms) {
    const std::string name = norm_of_operator(form.name);
    if (name.empty()) continue;
    ++known;
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
  }
  EXPECT_EQ(known, 6);
  EXPECT_EQ(norm_of_operator("BatchNorm"), "batch");
  EXPECT_EQ(norm_of_operator("MaskedBatchNorm"), "batch");
  EXPECT_EQ(norm_of_operator("DyT"), "DyT");
  EXPECT_EQ(norm_of_operator("GroupNorm"), "");
}

}  // namespace
}  // namespace equinorm::lab
