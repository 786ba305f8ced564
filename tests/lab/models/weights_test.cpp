// Initial weights: shared by all arms, decided by the seed.
#include <gtest/gtest.h>

#include <map>

#include "lab/error.hpp"
#include "small_model.hpp"

namespace equinorm::lab {
namespace {

bool belongs_to_a_norm(const Parameter& parameter) {
  return parameter.kind == ParameterKind::gamma || parameter.kind == ParameterKind::beta ||
         parameter.kind == ParameterKind::final_norm;
}

std::map<std::string, at::Tensor> weights_of(const TransformerOptions& options) {
  std::map<std::string, at::Tensor> weights;
  const Transformer model(options);
  for (const Parameter& parameter : model.parameters()) {
    if (!belongs_to_a_norm(parameter)) weights[parameter.name] = parameter.value;
  }
  return weights;
}

TEST(InitialWeights, AreTheSameInEveryArm) {
  const auto expected = weights_of(small_options({"none", "pre"}, true, at::kFloat));
  EXPECT_EQ(expected.size(), 2U * 8 + 3);
  for (const auto& arm : all_arms()) {
    const auto weights = weights_of(small_options(arm, true, at::kFloat));
    ASSERT_EQ(weights.size(), expected.size());
    for (const auto& [name, value] : weights) EXPECT_TRUE(at::equal(value, expected.at(name)));
  }
}

TEST(InitialWeights, DifferBetweenSeedsAndBetweenLayers) {
  auto options = small_options({"none", "pre"}, true, at::kFloat);
  const auto first = weights_of(options);
  options.seed = 6;
  const auto second = weights_of(options);
  EXPECT_FALSE(at::equal(first.at("layers.0.qkv.weight"), second.at("layers.0.qkv.weight")));
  EXPECT_FALSE(at::equal(first.at("layers.0.qkv.weight"), first.at("layers.1.qkv.weight")));
}

TEST(FinalNorm, ExistsInPrePlacementOnly) {
  for (const auto& arm : all_arms()) {
    const Transformer model(small_options(arm, true, at::kFloat));
    int found = 0;
    for (const Parameter& p : model.parameters()) found += p.kind == ParameterKind::final_norm;
    const int per_norm = arm.first == "rms" ? 1 : arm.first == "DyT" ? 3 : 2;
    EXPECT_EQ(found, arm.first != "none" && arm.second == "pre" ? per_norm : 0);
  }
}

TEST(NormRegistry, RefusesUnknownNamesAndPlacements) {
  EXPECT_THROW(Transformer(small_options({"group", "pre"}, true, at::kFloat)), UsageError);
  EXPECT_THROW(Transformer(small_options({"layer", "middle"}, true, at::kFloat)), UsageError);
}

}  // namespace
}  // namespace equinorm::lab
