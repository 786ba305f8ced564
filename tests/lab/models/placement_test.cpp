// The table of placements: names, constants and what they are made for.
#include "lab/models/placement.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

// Given with four decimals.
constexpr double kPrinted = 5e-5;

StackConstants deepnorm(Stack stack, int encoder_layers, int decoder_layers) {
  return constants_of(placement_named("deepnorm"), stack, {encoder_layers, decoder_layers});
}

TEST(Placements, HaveNamesOfTheirOwnFormulasAndSources) {
  std::set<std::string> names;
  std::set<std::string> titles;
  for (const Placement& placement : placements()) {
    names.insert(placement.name);
    titles.insert(placement.title);
    EXPECT_NE(std::string(placement.formula), "") << placement.name;
    EXPECT_NE(std::string(placement.source), "") << placement.name;
    EXPECT_EQ(find_placement(placement.name), &placement);
  }
  EXPECT_EQ(names.size(), placements().size());
  EXPECT_EQ(titles.size(), placements().size());
}

TEST(Placements, RefuseUnknownNames) {
  EXPECT_EQ(find_placement("middle"), nullptr);
  EXPECT_THROW(static_cast<void>(placement_named("middle")), UsageError);
}

TEST(Placements, WithoutANormAreNoneRezeroAndTfixup) {
  std::set<std::string> without;
  for (const Placement& placement : placements()) {
    if (!has_norm(placement)) without.insert(placement.name);
  }
  EXPECT_EQ(without, (std::set<std::string>{"none", "rezero", "tfixup"}));
}

TEST(DeepNorm, HasThePapersConstantsForOneStack) {
  const struct {
    int layers;
    double alpha;
    double beta;
  } cases[] = {{12, 2.2134, 0.3195}, {100, 3.7606, 0.1880}, {1000, 6.6874, 0.1057}};
  for (const auto& [layers, alpha, beta] : cases) {
    for (const StackConstants& constants :
         {deepnorm(Stack::encoder, layers, 0), deepnorm(Stack::decoder, 0, layers)}) {
      EXPECT_NEAR(constants.residual, alpha, kPrinted) << layers;
      EXPECT_NEAR(constants.weights, beta, kPrinted) << layers;
      EXPECT_EQ(constants.embeddings, 1) << layers;
    }
  }
}

TEST(DeepNorm, HasThePapersConstantsForEncoderAndDecoder) {
  const StackConstants encoder = deepnorm(Stack::encoder, 6, 6);
  EXPECT_NEAR(encoder.residual, 1.4179, kPrinted);
  EXPECT_NEAR(encoder.weights, 0.4970, kPrinted);
  const StackConstants decoder = deepnorm(Stack::decoder, 6, 6);
  EXPECT_NEAR(decoder.residual, 2.0598, kPrinted);
  EXPECT_NEAR(decoder.weights, 0.3433, kPrinted);
}

// Code that circulates has 1.15 for the 0.87 of the encoder's beta.
TEST(DeepNorm, EncoderWeightsShrinkBy87HundredthsAndNotGrowBy115) {
  const int n = 12;
  const int m = 3;
  const double layers = std::pow(std::pow(n, 4) * m, 1.0 / 16);
  const StackConstants encoder = deepnorm(Stack::encoder, n, m);
  EXPECT_NEAR(encoder.weights * layers, 0.87, 1e-12);
  EXPECT_NEAR(encoder.residual / layers, 0.81, 1e-12);
}

TEST(DeepNorm, DecoderBehindAnEncoderCountsItsOwnLayersOnly) {
  const StackConstants decoder = deepnorm(Stack::decoder, 18, 4);
  EXPECT_NEAR(std::pow(decoder.residual, 4), 12, 1e-12);
  EXPECT_NEAR(std::pow(decoder.weights, -4), 48, 1e-11);
}

TEST(TFixup, ScalesByThePowerOfItsLayers) {
  const Placement& tfixup = placement_named("tfixup");
  const StackConstants encoder = constants_of(tfixup, Stack::encoder, {16, 81});
  EXPECT_NEAR(encoder.weights, 0.335, 1e-15);
  EXPECT_NEAR(encoder.embeddings, 1 / std::sqrt(12.0), 1e-15);
  const StackConstants decoder = constants_of(tfixup, Stack::decoder, {16, 81});
  EXPECT_NEAR(decoder.weights, 1 / std::sqrt(27.0), 1e-15);
  EXPECT_NEAR(decoder.embeddings, 1 / std::sqrt(27.0), 1e-15);
  EXPECT_EQ(encoder.residual, 1);
  EXPECT_EQ(decoder.residual, 1);
}

TEST(Placements, ThatNeedNoConstantsHaveOnes) {
  for (const Placement& placement : placements()) {
    const std::string name = placement.name;
    if (name == "deepnorm" || name == "tfixup") continue;
    const StackConstants constants = constants_of(placement, Stack::encoder, {7, 5});
    EXPECT_EQ(constants.residual, 1) << name;
    EXPECT_EQ(constants.weights, 1) << name;
    EXPECT_EQ(constants.embeddings, 1) << name;
  }
}

}  // namespace
}  // namespace equinorm::lab
