// The blocks of the articles against compositions of PyTorch's operators in f64.
#include "lab/models/articles.hpp"

#include <gtest/gtest.h>

#include "attention_composition.hpp"
#include "image_compositions.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

constexpr std::int64_t kWidth = 6;

TransformerLayerOptions options(const std::string& position, double dropout) {
  return {.width = kWidth, .heads = 2, .hidden = 9, .dropout = dropout, .norm_position = position};
}

struct Masks {
  const char* name;
  AttentionMask mask;
};

std::vector<Masks> all_masks() {
  AttentionMask both = small_mask(3, 4);
  both.causal = true;
  return {{"none", {}}, {"causal", {true, {}}}, {"padding", small_mask(3, 4)}, {"both", both}};
}

at::Tensor composed(const std::string& position, const at::Tensor& x, const AttentionMask& mask,
                    const ParameterStore& p) {
  const auto norm = [&](const std::string& name, const at::Tensor& t) {
    return at::layer_norm(t, {kWidth}, find(p, "l." + name + ".gamma"),
                          find(p, "l." + name + ".beta"), 1e-5);
  };
  const auto attend = [&](const at::Tensor& t) { return composed_attention(t, 2, mask, p, "l"); };
  const auto feed_forward = [&](const at::Tensor& t) {
    const at::Tensor inner = at::matmul(t, find(p, "l.fc1.weight").t()) + find(p, "l.fc1.bias");
    return at::matmul(inner.clamp_min(0), find(p, "l.fc2.weight").t()) + find(p, "l.fc2.bias");
  };
  if (position == "post") {
    const at::Tensor y = norm("norm1", x + attend(x));
    return norm("norm2", y + feed_forward(y));
  }
  const at::Tensor y = x + attend(norm("norm1", x));
  return y + feed_forward(norm("norm2", y));
}

TEST(TransformerLayer, MatchesItsFormulaInBothPositionsUnderEveryMask) {
  for (const std::string position : {"post", "pre"}) {
    for (const Masks& masks : all_masks()) {
      SCOPED_TRACE(position + ", mask " + masks.name);
      ParameterStore parameters(1, at::kDouble);
      const TransformerLayer layer("l", 0, options(position, 0.5), parameters);
      disturb(parameters);
      const at::Tensor x = random_tensor({3, 4, kWidth}, 1).requires_grad_();
      expect_same([&] { return std::vector{layer.forward(x, masks.mask, {})}; },
                  [&] { return std::vector{composed(position, x, masks.mask, parameters)}; },
                  named(parameters, {{"x", x}}));
    }
  }
}

TEST(TransformerLayer, LooksNeitherAtPaddingNorAhead) {
  ParameterStore parameters(1, at::kDouble);
  const TransformerLayer layer("l", 0, options("post", 0), parameters);
  const at::NoGradGuard no_grad;
  const at::Tensor x = random_tensor({3, 4, kWidth}, 1);
  const AttentionMask padding = small_mask(3, 4);
  const at::Tensor other = x.masked_fill(padding.real_keys.logical_not().unsqueeze(2), 50);
  const at::Tensor real = padding.real_keys;
  EXPECT_TRUE(at::equal(layer.forward(x, padding, {}).index({real}),
                        layer.forward(other, padding, {}).index({real})));
  const AttentionMask causal{true, {}};
  at::Tensor later = x.clone();
  later.slice(1, 2).fill_(50);
  expect_close(layer.forward(later, causal, {}).slice(1, 0, 2),
               layer.forward(x, causal, {}).slice(1, 0, 2), "earlier tokens");
}

TEST(TransformerLayer, DropsOnlyInTrainingAndOnlyOnTheBranches) {
  ParameterStore parameters(1, at::kDouble);
  // Nearly everything is dropped, so that what is left is the stream.
  const TransformerLayer layer("l", 0, options("pre", 1 - 0x1p-32), parameters);
  const at::NoGradGuard no_grad;
  const at::Tensor x = random_tensor({3, 4, kWidth}, 1);
  Random random(1);
  ForwardContext context;
  context.training = true;
  context.random = &random;
  EXPECT_TRUE(at::equal(layer.forward(x, {}, context), x));
  EXPECT_FALSE(at::equal(layer.forward(x, {}, {}), x));
}

TEST(TransformerLayer, RefusesOtherPositions) {
  ParameterStore parameters(1, at::kDouble);
  EXPECT_THROW(TransformerLayer("l", 0, options("sandwich", 0), parameters), UsageError);
}

TEST(ResNetBlockWithLN, MatchesItsFormula) {
  for (const std::int64_t outputs : {3, 5}) {
    ParameterStore parameters(1, at::kDouble);
    const ResNetBlockWithLN block(
        "b", 0, {.inputs = 3, .outputs = outputs, .height = 4, .width = 5}, parameters);
    disturb(parameters);
    EXPECT_EQ(find(parameters, "b.norm1.gamma").sizes(), at::IntArrayRef({outputs, 4, 5}));
    const at::Tensor x = random_tensor({2, 3, 4, 5}, 1).requires_grad_();
    const auto conv = [&](const at::Tensor& t, const std::string& name) {
      return composed_convolution(t, 1, parameters, "b." + name);
    };
    const auto norm = [&](const at::Tensor& t, const std::string& name) {
      return composed_norm("layer_chw", t, 1, parameters, "b." + name);
    };
    const auto want = [&] {
      const at::Tensor inner = norm(conv(x, "conv1"), "norm1").clamp_min(0);
      const at::Tensor shortcut = outputs == 3 ? x : norm(conv(x, "projection"), "projection_norm");
      return std::vector{(norm(conv(inner, "conv2"), "norm2") + shortcut).clamp_min(0)};
    };
    expect_same([&] { return std::vector{block.forward(x)}; }, want, named(parameters, {{"x", x}}));
  }
}

}  // namespace
}  // namespace equinorm::lab
