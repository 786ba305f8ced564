// Every placement in every kind of model against its formula written out with plain LibTorch
// operators (reference_transformer.hpp): outputs and the gradients of all parameters.
#include <gtest/gtest.h>

#include <cmath>

#include "reference_transformer.hpp"
#include "small_model.hpp"

namespace equinorm::lab {
namespace {

// Two orders of summation in f64: some 1,000 additions in depth of 2^-53 each, relative to the
// largest value. Wrong formulas are off by a tenth and more.
constexpr double kReordered = 1e-12;

double relative_difference(const at::Tensor& actual, const at::Tensor& expected) {
  return ((actual - expected).abs().max() / expected.abs().max().clamp_min(1e-3)).item<double>();
}

Reference make_reference(const std::string& placement, const std::vector<Parameter>& parameters) {
  Reference reference;
  reference.placement = placement;
  for (const Parameter& parameter : parameters) {
    reference.parameters[parameter.name] = parameter.value;
  }
  return reference;
}

at::Tensor padding(std::int64_t samples, std::int64_t tokens) {
  at::Tensor mask = at::ones({samples, tokens}, at::kBool);
  mask[1].slice(0, tokens - 2, tokens).fill_(false);
  return mask;
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

double alpha_of_one_stack(const TransformerOptions& options) {
  return std::pow(2.0 * static_cast<double>(options.depth), 0.25);
}

at::Tensor reference_output(Reference& reference, const TransformerOptions& options,
                            const at::Tensor& input, const at::Tensor& mask) {
  at::Tensor x = reference.embed(input, "embedding");
  x = reference.stack(x, "", static_cast<int>(options.depth), alpha_of_one_stack(options),
                      hidden_keys(mask, input.size(1), options.causal));
  if (options.causal) return reference.linear(x, "head").flatten(0, 1);
  const at::Tensor weights = mask.to(at::kDouble).unsqueeze(2);
  return reference.linear((x * weights).sum(1) / weights.sum(1), "head");
}

void expect_formula(const std::string& placement, bool causal) {
  SCOPED_TRACE(placement + (causal ? " causal" : " encoder"));
  auto options = small_options({"layer", placement}, causal, at::kDouble);
  options.depth = 3;
  options.width = 8;
  const Transformer model(options);
  disturb(model.parameters(), 0.1);
  const at::Tensor input = small_input(options, 3, 5);
  const at::Tensor mask = padding(3, 5);
  Reference reference = make_reference(placement, model.parameters());
  expect_same_gradients(model.forward(input, {}, mask),
                        reference_output(reference, options, input, mask), model.parameters());
}

TEST(Formula, OfEveryPlacementHoldsInTheEncoder) {
  for (const std::string& placement : placement_names()) expect_formula(placement, false);
}

TEST(Formula, OfEveryPlacementHoldsInTheLanguageModel) {
  for (const std::string& placement : placement_names()) expect_formula(placement, true);
}

TEST(Formula, OfEveryPlacementHoldsInTheEncoderDecoder) {
  for (const std::string& placement : placement_names()) {
    SCOPED_TRACE(placement);
    const EncoderDecoderOptions options = small_pair({"layer", placement});
    const EncoderDecoder model(options);
    disturb(model.parameters(), 0.1);
    auto generator = at::make_generator<at::CPUGeneratorImpl>(23);
    const at::Tensor source = at::randn({3, 6, 5}, generator, at::kDouble);
    const at::Tensor target = at::randint(7, {3, 4}, generator, at::kLong);
    const at::Tensor source_mask = padding(3, 6);
    const at::Tensor target_mask = padding(3, 4);
    Reference reference = make_reference(placement, model.parameters());
    const at::Tensor memory =
        reference.stack(reference.embed(source, "encoder.embedding"), "encoder.", 3,
                        0.81 * std::pow(81.0 * 2, 1.0 / 16), hidden_keys(source_mask, 6, false));
    const at::Tensor x = reference.stack(reference.embed(target, "decoder.embedding"), "decoder.",
                                         2, std::pow(6.0, 0.25), hidden_keys(target_mask, 4, true),
                                         memory, hidden_keys(source_mask, 4, false));
    expect_same_gradients(model.forward(source, target, {}, source_mask, target_mask),
                          reference.linear(x, "head").flatten(0, 1), model.parameters());
  }
}

TEST(DeepNorm, ScalesTheResidualAndNotTheBranch) {
  const auto options = small_options({"layer", "deepnorm"}, true, at::kDouble);
  const Transformer model(options);
  const at::Tensor input = small_input(options, 3, 5);
  const at::Tensor mask = at::ones({3, 5}, at::kBool);
  Reference right = make_reference("deepnorm", model.parameters());
  Reference wrong = right;
  wrong.alpha_on_branch = true;
  const at::Tensor output = model.forward(input, {});
  EXPECT_LT(relative_difference(output, reference_output(right, options, input, mask)), kReordered);
  EXPECT_GT(relative_difference(output, reference_output(wrong, options, input, mask)), 0.1);
}

TEST(ReZero, IsTheIdentityAtTheStart) {
  const auto options = small_options({"layer", "rezero"}, false, at::kDouble);
  const Transformer model(options);
  const at::Tensor input = small_input(options, 3, 5);
  const Reference reference = make_reference("rezero", model.parameters());
  const at::Tensor expected = at::linear(reference.embed(input, "embedding").mean(1),
                                         reference.get("head.weight"), reference.get("head.bias"));
  EXPECT_LT(relative_difference(model.forward(input, {}), expected), 1e-15);
}

TEST(Placements, ThatStartEqualAreEqualAtTheStart) {
  const auto output = [](const std::string& norm, const std::string& placement) {
    const auto options = small_options({norm, placement}, true, at::kDouble);
    return Transformer(options).forward(small_input(options, 3, 5), {});
  };
  EXPECT_TRUE(at::equal(output("layer", "admin"), output("layer", "post")));  // omega is 1
  EXPECT_TRUE(at::equal(output("layer", "none"), output("none", "pre")));
  EXPECT_TRUE(at::equal(output("layer", "rezero"), output("rms", "rezero")));
  EXPECT_FALSE(at::equal(output("layer", "b2t"), output("layer", "post")));
  EXPECT_FALSE(at::equal(output("layer", "pre_no_final"), output("layer", "pre")));
}

}  // namespace
}  // namespace equinorm::lab
