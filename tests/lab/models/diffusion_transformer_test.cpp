// The diffusion Transformer and the adaLN block: shapes, starts, gradients, formulas.
#include "lab/models/diffusion_transformer.hpp"

#include "attention_composition.hpp"

namespace equinorm::lab {
namespace {

DiffusionTransformerOptions small(const std::string& conditioning,
                                  const std::string& norm = "layer") {
  DiffusionTransformerOptions options;
  options.norm = norm;
  options.conditioning = conditioning;
  options.depth = 2;
  options.width = 8;
  options.heads = 2;
  options.ffn = 6;
  options.side = 4;
  options.classes = 3;
  options.seed = 3;
  options.dtype = at::kDouble;
  return options;
}

void disturb(const DiffusionTransformer& model) {
  const at::NoGradGuard no_grad;
  std::uint64_t seed = 100;
  for (const Parameter& p : model.parameters()) {
    p.value.add_(random_tensor(p.value.sizes(), seed++), 0.3);
  }
}

struct Input {
  at::Tensor images = random_tensor({3, 4, 4}, 1);
  at::Tensor times = random_tensor({3}, 2).sigmoid();
  at::Tensor classes = at::arange(3, at::kLong);
};

at::Tensor run(const DiffusionTransformer& model, const Input& input) {
  return model.forward(input.images, input.times, input.classes, {});
}

TEST(DiffusionTransformer, StartsByAnsweringZero) {
  for (const std::string& conditioning : conditioning_names()) {
    const DiffusionTransformer model(small(conditioning));
    const at::Tensor noise = run(model, {});
    EXPECT_EQ(noise.sizes(), (std::vector<std::int64_t>{3, 4, 4})) << conditioning;
    EXPECT_TRUE(noise.eq(0).all().item<bool>()) << conditioning;
  }
}

TEST(DiffusionTransformer, SeesPlaceTimeAndClassAndNoOtherSample) {
  const at::NoGradGuard no_grad;
  for (const std::string& conditioning : conditioning_names()) {
    SCOPED_TRACE(conditioning);
    const DiffusionTransformer model(small(conditioning));
    disturb(model);
    const at::Tensor before = run(model, {});
    const auto changes_only_the_first = [&](const Input& input) {
      const at::Tensor after = run(model, input);
      EXPECT_FALSE(at::equal(after[0], before[0]));
      EXPECT_TRUE(at::equal(after.slice(0, 1), before.slice(0, 1)));
    };
    Input pixel;
    pixel.images[0][3][3].add_(1);
    changes_only_the_first(pixel);
    Input time;
    time.times[0].mul_(0.5);
    changes_only_the_first(time);
    Input label;
    label.classes[0] = 2;
    changes_only_the_first(label);
  }
}

TEST(DiffusionTransformer, HasTheGradientsOfFiniteDifferences) {
  for (const std::string& conditioning : conditioning_names()) {
    SCOPED_TRACE(conditioning);
    const DiffusionTransformer model(small(conditioning));
    disturb(model);
    Named leaves;
    for (const Parameter& p : model.parameters()) leaves.emplace_back(p.name, p.value);
    const at::Tensor weights = random_tensor({3, 4, 4}, 8);
    expect_finite_differences([&] { return (run(model, {}) * weights).sum(); }, leaves);
  }
}

TEST(DiffusionTransformer, TakesAnyNormWhereTheConditionIsNotInIt) {
  for (const char* conditioning : {"added", "in_context"}) {
    const DiffusionTransformer model(small(conditioning, "BlendedLayerNorm"));
    bool blended = false;
    for (const Parameter& p : model.parameters()) {
      blended = blended || p.name.find(".alpha") != std::string::npos;
    }
    EXPECT_TRUE(blended);
  }
}

TEST(AdaLnBlock, MatchesItsFormulaForwardAndBackward) {
  constexpr AdaLnZeroOptions kOptions{.width = 6, .heads = 2, .hidden = 10, .condition = 5};
  ParameterStore parameters(1, at::kDouble);
  const AdaLnBlock block("b", 0, kOptions, parameters);
  disturb(parameters);
  const at::Tensor x = random_tensor({3, 4, 6}, 1).requires_grad_();
  const at::Tensor c = random_tensor({3, 5}, 2).requires_grad_();
  const auto affine = [&](const std::string& name, const at::Tensor& t) {
    return at::matmul(t, find(parameters, name + ".weight").t()) + find(parameters, name + ".bias");
  };
  const auto modulate = [](const at::Tensor& t, const at::Tensor& shift, const at::Tensor& scale) {
    const at::Tensor centred = t - t.mean(-1, true);
    return centred / (centred.square().mean(-1, true) + 1e-6).sqrt() * (1 + scale) + shift;
  };
  const auto composed = [&] {
    const auto m = affine("b.modulation", c * c.sigmoid()).unsqueeze(1).chunk(4, 2);
    const at::Tensor y = x + composed_attention(modulate(x, m[0], m[1]), 2, {}, parameters, "b");
    const at::Tensor z = affine("b.fc1", modulate(y, m[2], m[3]));
    const at::Tensor gelu =
        0.5 * z * (1 + (std::sqrt(2 / M_PI) * (z + 0.044715 * z.pow(3))).tanh());
    return std::vector{y + affine("b.fc2", gelu)};
  };
  expect_same([&] { return std::vector{block.forward(x, c)}; }, composed,
              named(parameters, {{"x", x}, {"c", c}}));
}

}  // namespace
}  // namespace equinorm::lab
