// Admin's profiling against the recurrence written out (reference_transformer.hpp).
#include <gtest/gtest.h>

#include <cmath>

#include "reference_transformer.hpp"
#include "small_model.hpp"

namespace equinorm::lab {
namespace {

constexpr double kReordered = 1e-12;

Reference make_reference(const std::vector<Parameter>& parameters, std::size_t sublayers) {
  Reference reference;
  reference.placement = "admin";
  reference.profiling = true;
  reference.sublayers_per_stack = sublayers;
  for (const Parameter& parameter : parameters) {
    reference.parameters[parameter.name] = parameter.value.detach().clone();
  }
  return reference;
}

// The omegas in the order of the sublayers; all elements of one are equal.
std::vector<double> omegas_of(const std::vector<Parameter>& parameters) {
  std::vector<double> omegas;
  for (const Parameter& parameter : parameters) {
    if (parameter.name.find(".omega") == std::string::npos) continue;
    EXPECT_EQ(parameter.value.min().item<double>(), parameter.value.max().item<double>());
    omegas.push_back(parameter.value.min().item<double>());
  }
  return omegas;
}

void expect_omegas(const std::vector<Parameter>& parameters, const std::vector<double>& expected) {
  const std::vector<double> omegas = omegas_of(parameters);
  ASSERT_EQ(omegas.size(), expected.size());
  for (std::size_t i = 0; i < omegas.size(); ++i) EXPECT_NEAR(omegas[i], expected[i], kReordered);
}

TransformerOptions admin_options(bool causal) {
  auto options = small_options({"layer", "admin"}, causal, at::kDouble);
  options.depth = 3;
  options.width = 8;
  options.dropout = 0.5;  // profiling runs without
  return options;
}

TEST(Admin, ProfilesTheRecurrenceOfThePaper) {
  for (const bool causal : {false, true}) {
    const auto options = admin_options(causal);
    const Transformer model(options);
    const at::Tensor input = small_input(options, 4, 6);
    const at::Tensor mask = at::ones({4, 6}, at::kBool);
    Reference reference = make_reference(model.parameters(), 6);
    static_cast<void>(reference.stack(reference.embed(input, "embedding"), "", 3, 1,
                                      hidden_keys(mask, 6, causal)));
    model.profile(input);
    expect_omegas(model.parameters(), reference.omegas);
    EXPECT_EQ(omegas_of(model.parameters()).front(), 1);
    EXPECT_GT(omegas_of(model.parameters()).back(), 1.01);
  }
}

TEST(Admin, CountsRealTokensOnly) {
  const auto options = admin_options(false);
  const Transformer model(options);
  const at::Tensor input = small_input(options, 2, 6);
  at::Tensor mask = at::ones({2, 6}, at::kBool);
  mask[1].slice(0, 2, 6).fill_(false);
  Reference reference = make_reference(model.parameters(), 6);
  reference.real = mask;
  static_cast<void>(
      reference.stack(reference.embed(input, "embedding"), "", 3, 1, hidden_keys(mask, 6, false)));
  model.profile(input, mask);
  expect_omegas(model.parameters(), reference.omegas);
}

TEST(Admin, StartsAtOneInEncoderAndDecoder) {
  auto options = small_pair({"layer", "admin"});
  options.encoder_depth = 3;
  options.decoder_depth = 2;
  const EncoderDecoder model(options);
  auto generator = at::make_generator<at::CPUGeneratorImpl>(31);
  const at::Tensor source = at::randn({3, 6, 5}, generator, at::kDouble);
  const at::Tensor target = at::randint(7, {3, 4}, generator, at::kLong);
  const at::Tensor source_mask = at::ones({3, 6}, at::kBool);
  Reference reference = make_reference(model.parameters(), 6);  // 3 x 2 and 2 x 3
  const at::Tensor memory = reference.stack(reference.embed(source, "encoder.embedding"),
                                            "encoder.", 3, 1, hidden_keys(source_mask, 6, false));
  static_cast<void>(reference.stack(reference.embed(target, "decoder.embedding"), "decoder.", 2, 1,
                                    hidden_keys(at::ones({3, 4}, at::kBool), 4, true), memory,
                                    hidden_keys(source_mask, 4, false)));
  model.profile(source, target);
  expect_omegas(model.parameters(), reference.omegas);
  EXPECT_EQ(omegas_of(model.parameters())[6], 1);
}

TEST(Admin, IsTheOnlyPlacementThatProfilingChanges) {
  for (const std::string& placement : placement_names()) {
    const auto options = small_options({"layer", placement}, true, at::kDouble);
    const Transformer model(options);
    const at::Tensor input = small_input(options, 3, 5);
    const at::Tensor before = model.forward(input, {});
    model.profile(input);
    EXPECT_EQ(at::equal(model.forward(input, {}), before), placement != "admin") << placement;
  }
}

TEST(Admin, LearnsItsResidualWeights) {
  const auto options = small_options({"layer", "admin"}, true, at::kDouble);
  const Transformer model(options);
  model.profile(small_input(options, 3, 5));
  model.forward(small_input(options, 3, 5), {}).square().sum().backward();
  for (const Parameter& parameter : model.parameters()) {
    if (parameter.kind != ParameterKind::residual) continue;
    EXPECT_GT(parameter.value.grad().abs().max().item<double>(), 0) << parameter.name;
  }
}

}  // namespace
}  // namespace equinorm::lab
