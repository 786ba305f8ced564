// Norms of queries and keys inside whole models, against attention written out in elementary
// operators: outputs, gradients, masks, attention to an encoder, and generation with a cache.
//
// Not here: the norms' own bounds (tests/torch). The one trap: initial gains of 1 hide a gain in
// the wrong place, so parameters are disturbed first.
#include <gtest/gtest.h>

#include <cmath>

#include "lab/error.hpp"
#include "lab/models/qk_norm.hpp"
#include "reference_transformer.hpp"
#include "small_model.hpp"

namespace equinorm::lab {
namespace {

// Two orders of summation in f64, as in formulas_test.cpp.
constexpr double kReordered = 1e-12;

double relative_difference(const at::Tensor& actual, const at::Tensor& expected) {
  return ((actual - expected).abs().max() / expected.abs().max().clamp_min(1e-3)).item<double>();
}

Reference make_reference(const std::string& qk_norm, const std::vector<Parameter>& parameters) {
  Reference reference;
  reference.placement = "pre";
  reference.qk_norm = qk_norm;
  for (const Parameter& parameter : parameters) {
    reference.parameters[parameter.name] = parameter.value;
  }
  return reference;
}

void expect_same_gradients(const at::Tensor& actual, const at::Tensor& expected,
                           const std::vector<Parameter>& parameters) {
  ASSERT_EQ(actual.sizes(), expected.sizes());
  EXPECT_LT(relative_difference(actual, expected), kReordered);
  auto generator = at::make_generator<at::CPUGeneratorImpl>(19);
  const at::Tensor direction = at::randn(actual.sizes(), generator, at::kDouble);
  std::vector<at::Tensor> leaves;
  for (const Parameter& parameter : parameters) leaves.push_back(parameter.value);
  const auto got = torch::autograd::grad({(actual * direction).sum()}, leaves);
  const auto wanted = torch::autograd::grad({(expected * direction).sum()}, leaves);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    EXPECT_LT(relative_difference(got[i], wanted[i]), kReordered) << parameters[i].name;
    EXPECT_GT(wanted[i].abs().max().item<double>(), 0) << parameters[i].name;
  }
}

at::Tensor padding(std::int64_t samples, std::int64_t tokens) {
  at::Tensor mask = at::ones({samples, tokens}, at::kBool);
  mask[1].slice(0, tokens - 2, tokens).fill_(false);
  return mask;
}

TransformerOptions options_of(const std::string& qk_norm, bool causal) {
  auto options = small_options({"layer", "pre"}, causal, at::kDouble);
  options.width = 8;
  options.tokens = 7;
  options.qk_norm = qk_norm;
  return options;
}

TEST(QkNorm, OfTheLanguageModelIsItsFormula) {
  for (const std::string& name : qk_norm_names()) {
    SCOPED_TRACE(name);
    const auto options = options_of(name, true);
    const Transformer model(options);
    disturb(model.parameters(), 0.1);
    const at::Tensor input = small_input(options, 3, 5);
    const at::Tensor mask = padding(3, 5);
    Reference reference = make_reference(name, model.parameters());
    const at::Tensor x =
        reference.stack(reference.embed(input, "embedding"), "", 2, 1, hidden_keys(mask, 5, true));
    expect_same_gradients(model.forward(input, {}, mask), reference.linear(x, "head").flatten(0, 1),
                          model.parameters());
  }
}

TEST(QkNorm, OfTheEncoderDecoderIsItsFormulaInBothAttentions) {
  for (const std::string& name : qk_norm_names()) {
    SCOPED_TRACE(name);
    auto options = small_pair({"layer", "pre"});
    options.qk_norm = name;
    const EncoderDecoder model(options);
    disturb(model.parameters(), 0.1);
    auto generator = at::make_generator<at::CPUGeneratorImpl>(23);
    const at::Tensor source = at::randn({3, 6, 5}, generator, at::kDouble);
    const at::Tensor target = at::randint(7, {3, 4}, generator, at::kLong);
    const at::Tensor source_mask = padding(3, 6);
    Reference reference = make_reference(name, model.parameters());
    const at::Tensor memory = reference.stack(reference.embed(source, "encoder.embedding"),
                                              "encoder.", 3, 1, hidden_keys(source_mask, 6, false));
    const at::Tensor all = at::ones({3, 4}, at::kBool);
    const at::Tensor x =
        reference.stack(reference.embed(target, "decoder.embedding"), "decoder.", 2, 1,
                        hidden_keys(all, 4, true), memory, hidden_keys(source_mask, 4, false));
    expect_same_gradients(model.forward(source, target, {}, source_mask),
                          reference.linear(x, "head").flatten(0, 1), model.parameters());
  }
}

TEST(QkNorm, WithACacheGivesTheFullPass) {
  const at::NoGradGuard no_grad;
  for (const std::string& name : qk_norm_names()) {
    SCOPED_TRACE(name);
    const auto options = options_of(name, true);
    const Transformer model(options);
    disturb(model.parameters(), 0.1);
    const at::Tensor input = small_input(options, 2, 7);
    at::Tensor mask = at::ones({2, 7}, at::kBool);
    mask[1][2] = false;
    DecodingState state;
    std::vector<at::Tensor> parts;
    for (const auto& [from, to] : {std::pair{0, 3}, {3, 4}, {4, 7}}) {
      parts.push_back(model.step(input.slice(1, from, to), state, mask.slice(1, 0, to))
                          .view({2, to - from, -1}));
    }
    const at::Tensor full = model.forward(input, {}, mask);
    EXPECT_LT(relative_difference(at::cat(parts, 1).flatten(0, 1), full), kReordered);
  }
}

TEST(QkNorm, IgnoresTheLengthOfQueriesAndKeys) {
  const at::NoGradGuard no_grad;
  for (const std::string& name : qk_norm_names()) {
    const auto options = options_of(name, false);
    const Transformer model(options);
    const at::Tensor input = small_input(options, 2, 6);
    const at::Tensor before = model.forward(input, {});
    for (const Parameter& parameter : model.parameters()) {
      if (parameter.name == "layers.0.qkv.weight") parameter.value.slice(0, 0, 16).mul_(3);
    }
    const double change = relative_difference(model.forward(input, {}), before);
    // eps is 1e-5 of a mean square near 1.
    EXPECT_EQ(change < 1e-4, name != "none") << name << ": " << change;
  }
}

TEST(QkNorm, StartsWithGainsOfOneAndHenrysFactor) {
  for (const std::string& name : qk_norm_names()) {
    const Transformer model(options_of(name, true));
    int found = 0;
    for (const Parameter& parameter : model.parameters()) {
      if (parameter.name.find("qk_norm") == std::string::npos) continue;
      ++found;
      const bool factor = name == "l2";
      EXPECT_EQ(parameter.value.numel(), factor ? 1 : 4) << parameter.name;
      const double want = factor ? std::log2(7.0 * 7.0 - 7.0) : 1;
      EXPECT_TRUE(parameter.value.eq(want).all().item<bool>()) << parameter.name;
    }
    EXPECT_EQ(found, name == "none" ? 0 : name == "l2" ? 2 : 4) << name;
  }
  EXPECT_THROW(Transformer(options_of("cosine", true)), UsageError);
}

TEST(QkNorm, OfAnOperatorIsOneThatModelsKnow) {
  EXPECT_EQ(qk_norms_of_operator("QKNorm"), std::vector<std::string>{"l2"});
  EXPECT_EQ(qk_norms_of_operator("QKNormLearned"), (std::vector<std::string>{"rms", "layer"}));
  EXPECT_TRUE(qk_norms_of_operator("DyT").empty());
}

}  // namespace
}  // namespace equinorm::lab
