// The adaLN-Zero block and final layer against compositions of PyTorch's operators in f64, and what
// they start as.
#include "lab/models/ada_ln_zero.hpp"

#include <gtest/gtest.h>

#include "attention_composition.hpp"

namespace equinorm::lab {
namespace {

constexpr std::int64_t kSamples = 3;
constexpr std::int64_t kTokens = 4;
constexpr std::int64_t kWidth = 6;
constexpr AdaLnZeroOptions kOptions{.width = kWidth, .heads = 2, .hidden = 10, .condition = 5};

at::Tensor affine(const ParameterStore& p, const std::string& name, const at::Tensor& x) {
  return at::matmul(x, find(p, name + ".weight").t()) + find(p, name + ".bias");
}

at::Tensor modulate(const at::Tensor& x, const at::Tensor& shift, const at::Tensor& scale) {
  const at::Tensor centred = x - x.mean(-1, true);
  return centred / (centred.square().mean(-1, true) + 1e-6).sqrt() * (1 + scale) + shift;
}

// A condition for every token: that of the sample where it has none of its own.
std::vector<at::Tensor> modulation(const ParameterStore& p, const at::Tensor& c, int chunks) {
  const at::Tensor every =
      c.dim() == 3 ? c : c.unsqueeze(1).expand({c.size(0), kTokens, c.size(1)});
  return affine(p, "b.modulation", every * every.sigmoid()).chunk(chunks, 2);
}

at::Tensor composed(const ParameterStore& p, const at::Tensor& x, const at::Tensor& c,
                    const AttentionMask& mask) {
  const auto m = modulation(p, c, 6);
  const at::Tensor y = x + m[2] * composed_attention(modulate(x, m[0], m[1]), 2, mask, p, "b");
  const at::Tensor z = affine(p, "b.fc1", modulate(y, m[3], m[4]));
  const at::Tensor gelu = 0.5 * z * (1 + (std::sqrt(2 / M_PI) * (z + 0.044715 * z.pow(3))).tanh());
  return y + m[5] * affine(p, "b.fc2", gelu);
}

at::Tensor condition(bool per_token) {
  return (per_token ? random_tensor({kSamples, kTokens, 5}, 2) : random_tensor({kSamples, 5}, 2))
      .requires_grad_();
}

TEST(AdaLnZeroBlock, MatchesItsFormulaForwardAndBackward) {
  for (const bool per_token : {false, true}) {
    for (const bool masked : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "per token " << per_token << ", masked " << masked);
      ParameterStore parameters(1, at::kDouble);
      const AdaLnZeroBlock block("b", 0, kOptions, parameters);
      disturb(parameters);
      const at::Tensor x = random_tensor({kSamples, kTokens, kWidth}, 1).requires_grad_();
      const at::Tensor c = condition(per_token);
      const AttentionMask mask = masked ? small_mask(kSamples, kTokens) : AttentionMask();
      expect_same([&] { return std::vector{block.forward(x, c, mask)}; },
                  [&] { return std::vector{composed(parameters, x, c, mask)}; },
                  named(parameters, {{"x", x}, {"c", c}}));
    }
  }
}

TEST(AdaLnZeroBlock, StartsAsTheIdentityWithAGradientInItsModulationAlone) {
  ParameterStore parameters(1, at::kDouble);
  const AdaLnZeroBlock block("b", 0, kOptions, parameters);
  const at::Tensor x = random_tensor({kSamples, kTokens, kWidth}, 1);
  const at::Tensor y = block.forward(x, condition(false));
  EXPECT_TRUE(at::equal(x, y));
  y.square().sum().backward();
  for (const Parameter& p : parameters.all()) {
    const double largest = p.value.grad().abs().max().item<double>();
    if (p.name.find("modulation") == std::string::npos) {
      EXPECT_EQ(largest, 0) << p.name;
    } else {
      EXPECT_GT(largest, 0) << p.name;
    }
  }
}

TEST(AdaLnZeroBlock, HasTheGradientsOfFiniteDifferences) {
  ParameterStore parameters(1, at::kDouble);
  const AdaLnZeroBlock block("b", 0, kOptions, parameters);
  disturb(parameters);
  const at::Tensor x = random_tensor({2, 3, kWidth}, 1).requires_grad_();
  const at::Tensor c = random_tensor({2, 5}, 2).requires_grad_();
  expect_finite_differences([&] { return block.forward(x, c).square().mean(); },
                            named(parameters, {{"x", x}, {"c", c}}));
}

TEST(AdaLnZeroFinalLayer, StartsAtZeroAndMatchesItsFormula) {
  for (const bool per_token : {false, true}) {
    ParameterStore parameters(1, at::kDouble);
    const AdaLnZeroFinalLayer layer("b", {.width = kWidth, .condition = 5, .outputs = 7},
                                    parameters);
    const at::Tensor x = random_tensor({kSamples, kTokens, kWidth}, 1).requires_grad_();
    const at::Tensor c = condition(per_token);
    EXPECT_TRUE(at::equal(layer.forward(x, c), at::zeros({kSamples, kTokens, 7}, at::kDouble)));
    disturb(parameters);
    const auto want = [&] {
      const auto m = modulation(parameters, c, 2);
      return std::vector{affine(parameters, "b.linear", modulate(x, m[0], m[1]))};
    };
    expect_same([&] { return std::vector{layer.forward(x, c)}; }, want,
                named(parameters, {{"x", x}, {"c", c}}));
  }
}

}  // namespace
}  // namespace equinorm::lab
