// What a token can see: causal and padding masks, batch statistics, dropout.
#include <gtest/gtest.h>

#include "small_model.hpp"

namespace equinorm::lab {
namespace {

ForwardContext mode(bool training) {
  ForwardContext context;
  context.training = training;
  return context;
}

// Whether outputs up to token `last` of the first sample change with the tokens behind it.
bool sees_the_future(Transformer& model, bool training, std::int64_t last) {
  const at::NoGradGuard no_grad;
  const at::Tensor input = small_input(model.options(), 2, 6);
  at::Tensor changed = input.clone();
  changed[0].slice(0, last + 1, 6).add_(1).remainder_(model.options().vocabulary);
  const at::Tensor before = model.forward(input, mode(training)).slice(0, 0, last + 1);
  const at::Tensor after = model.forward(changed, mode(training)).slice(0, 0, last + 1);
  return !at::equal(before, after);
}

TEST(CausalMask, LeaksNotOneBitOfTheFutureUnlessBatchStatisticsDo) {
  for (const auto& arm : all_placements()) {
    SCOPED_TRACE(arm.first + " " + arm.second);
    Transformer model(small_options(arm, true, at::kFloat));
    for (std::int64_t last = 0; last < 5; ++last) {
      EXPECT_EQ(sees_the_future(model, true, last), arm.first == "batch") << "token " << last;
      EXPECT_FALSE(sees_the_future(model, false, last)) << "token " << last;
    }
  }
}

TEST(CausalMask, LetsEachTokenSeeItselfAndThePast) {
  const at::NoGradGuard no_grad;
  Transformer model(small_options({"layer", "pre"}, true, at::kFloat));
  const at::Tensor input = small_input(model.options(), 1, 6);
  at::Tensor changed = input.clone();
  changed[0][2].add_(1).remainder_(7);
  const at::Tensor before = model.forward(input, mode(false));
  const at::Tensor after = model.forward(changed, mode(false));
  for (std::int64_t token = 0; token < 6; ++token) {
    EXPECT_EQ(at::equal(before[token], after[token]), token < 2) << "token " << token;
  }
}

TEST(Samples, DoNotSeeEachOtherUnlessBatchStatisticsDo) {
  const at::NoGradGuard no_grad;
  for (const auto& arm : all_placements()) {
    SCOPED_TRACE(arm.first + " " + arm.second);
    Transformer model(small_options(arm, false, at::kFloat));
    const at::Tensor input = small_input(model.options(), 2, 6);
    at::Tensor changed = input.clone();
    changed[1].mul_(3);
    const at::Tensor before = model.forward(input, mode(true))[0];
    const at::Tensor after = model.forward(changed, mode(true))[0];
    EXPECT_NE(at::equal(before, after), sees_the_batch(arm.first));
  }
}

at::Tensor last_two_padded(std::int64_t samples) {
  at::Tensor mask = at::ones({samples, 6}, at::kBool);
  mask.slice(1, 4, 6).fill_(false);
  return mask;
}

TEST(PaddingMask, HidesTheContentOfPaddedTokensToTheLastBit) {
  const at::NoGradGuard no_grad;
  for (const auto& arm : all_placements()) {
    for (const bool training : {true, false}) {
      SCOPED_TRACE(arm.first + " " + arm.second + (training ? " training" : " evaluation"));
      const auto options = small_options(arm, false, at::kFloat);
      const at::Tensor input = small_input(options, 3, 6);
      at::Tensor garbage = input.clone();
      garbage.slice(1, 4, 6).fill_(1e3);
      Transformer one(options);
      Transformer other(options);
      EXPECT_TRUE(at::equal(one.forward(input, mode(training), last_two_padded(3)),
                            other.forward(garbage, mode(training), last_two_padded(3))));
    }
  }
}

// The same arithmetic but for the order of sums: 2^-52 times some 100 operations in depth, times
// 100 for what two layers amplify at unit scale.
constexpr double kReordered = 1e4 * 0x1p-52;

TEST(PaddingMask, GivesWhatTheShorterInputGives) {
  const at::NoGradGuard no_grad;
  for (const auto& arm : all_placements()) {
    SCOPED_TRACE(arm.first + " " + arm.second);
    const auto options = small_options(arm, false, at::kDouble);
    const at::Tensor input = small_input(options, 3, 6);
    Transformer padded(options);
    Transformer shorter(options);
    const at::Tensor expected = shorter.forward(input.slice(1, 0, 4), mode(true));
    const at::Tensor actual = padded.forward(input, mode(true), last_two_padded(3));
    EXPECT_LT((actual - expected).abs().max().item<double>(), kReordered);
  }
}

TEST(PaddingMask, WorksTogetherWithTheCausalOne) {
  const at::NoGradGuard no_grad;
  const auto options = small_options({"layer", "pre"}, true, at::kDouble);
  Transformer model(options);
  const at::Tensor input = small_input(options, 2, 6);
  const at::Tensor expected = model.forward(input.slice(1, 0, 4), mode(false)).view({2, 4, 7});
  const at::Tensor actual =
      model.forward(input, mode(false), last_two_padded(2)).view({2, 6, 7}).slice(1, 0, 4);
  EXPECT_LT((actual - expected).abs().max().item<double>(), kReordered);
}

TEST(Dropout, KeepsTheMeanAndTheShareAndIsOffInEvaluation) {
  ForwardContext context = mode(true);
  Random random(3);
  context.random = &random;
  const at::Tensor ones = at::ones({100000});
  const at::Tensor dropped = dropout(ones, 0.25, context);
  const double share = dropped.eq(0).to(at::kDouble).mean().item<double>();
  EXPECT_NEAR(share, 0.25, 5 * std::sqrt(0.25 * 0.75 / 100000));  // 5 sigma
  EXPECT_EQ(dropped.max().item<float>(), static_cast<float>(1 / 0.75));
  EXPECT_TRUE(at::equal(dropout(ones, 0.25, mode(false)), ones));
}

TEST(Positions, AreSinesAndCosinesOfFallingFrequency) {
  const at::Tensor table = sinusoidal_positions(3, 4, at::kDouble);
  EXPECT_DOUBLE_EQ(table[2][0].item<double>(), std::sin(2.0));
  EXPECT_DOUBLE_EQ(table[2][1].item<double>(), std::cos(2.0));
  EXPECT_DOUBLE_EQ(table[2][2].item<double>(), std::sin(2.0 / 100.0));
  EXPECT_DOUBLE_EQ(table[2][3].item<double>(), std::cos(2.0 / 100.0));
}

}  // namespace
}  // namespace equinorm::lab
