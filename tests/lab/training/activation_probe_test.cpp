// What a forward pass shows of itself, on tensors whose answer is known.
#include "lab/training/activation_probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "equinorm/row_norm.hpp"
#include "lab/training/line_fit.hpp"
#include "lab/training/task.hpp"

namespace equinorm::lab {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsNan;

constexpr double kLn2 = 0.6931471805599453;

ActivationProbe saw_rows(const at::Tensor& x, const RowForm& form) {
  ActivationProbe probe(1);
  probe.saw_rows(0, x, form);
  return probe;
}

TEST(RowInstruments, MeasureVarianceAgainstEps) {
  // v = 1, 0, 4; eps / (v + eps) = 1/5, 1, 1/17; 10 eps = 2.5.
  const auto probe =
      saw_rows(at::tensor({1.0F, -1.0F, 7.0F, 7.0F, 2.0F, -2.0F}).view({3, 2}), {.eps = 0.25});
  EXPECT_THAT(probe.smallest_row_variance(), ElementsAre(0.0));
  EXPECT_THAT(probe.eps_share(), ElementsAre(DoubleEq((0.2 + 1 + 1.0 / 17) / 3)));
  EXPECT_THAT(probe.rows_near_eps(), ElementsAre(DoubleEq(2.0 / 3)));
}

TEST(RowInstruments, FollowTheForm) {
  const at::Tensor x = at::tensor({3.0F, 5.0F}).view({1, 2});
  const auto variance = [](const at::Tensor& row, const RowForm& form) {
    return saw_rows(row, form).smallest_row_variance().at(0);
  };
  EXPECT_EQ(variance(x, {}), 1.0);
  EXPECT_EQ(variance(x, {.centered = false}), 17.0);
  EXPECT_EQ(variance(x, {.unbiased = true}), 2.0);
  EXPECT_EQ(variance(x, {.centered = false, .part = 0.5}), 9.0);
  const auto share = [&](const RowForm& form) { return saw_rows(x, form).eps_share().at(0); };
  EXPECT_EQ(share({.eps = 1}), 0.5);                              // 1 / (1 + 1)
  EXPECT_EQ(share({.spread = Spread::added, .eps = 1}), 0.75);    // 1 - 1 / (1 + 1)^2
  EXPECT_EQ(share({.spread = Spread::clamped, .eps = 2}), 0.75);  // 1 - 1 / 2^2
  EXPECT_EQ(share({.spread = Spread::clamped, .eps = 0.5}), 0.0);
  EXPECT_EQ(share({.centered = false, .spread = Spread::length, .eps = 0}), 0.0);
}

TEST(RowInstruments, SeeVariancesBelowTheSquaresOfTheType) {
  const auto probe = saw_rows(at::tensor({1e-30F, -1e-30F}).view({1, 2}), {});
  const double x = 1e-30F;
  EXPECT_THAT(probe.smallest_row_variance(), ElementsAre(DoubleEq(x * x)));
}

TEST(RowInstruments, CombineTheNormsOfALayerAndLeaveOutThoseOutside) {
  ActivationProbe probe(2);
  const at::Tensor x = at::tensor({1.0, -1.0}).view({1, 2});
  probe.saw_rows(1, x * 4, {.eps = 1});
  probe.saw_rows(1, x, {.eps = 1});
  probe.saw_rows(-1, x * 0, {.eps = 1});
  EXPECT_THAT(probe.smallest_row_variance(), ElementsAre(IsNan(), 1.0));
  EXPECT_THAT(probe.eps_share(), ElementsAre(IsNan(), DoubleEq((1.0 / 17 + 0.5) / 2)));
  EXPECT_THAT(probe.rows_near_eps(), ElementsAre(IsNan(), 0.5));
}

// Batch means 1 and 2, unbiased variances 2 and 8.
at::Tensor two_rows() { return at::tensor({0.0, 0.0, 2.0, 4.0}).view({2, 2}); }

TEST(BatchInstruments, CompareTheBatchWithTheAverages) {
  ActivationProbe probe(2);
  probe.saw_batch(1, {two_rows(), {}, at::tensor({0.0, 0.0}), at::tensor({1.0, 4.0})});
  EXPECT_THAT(probe.batch_mean_gap(), ElementsAre(IsNan(), DoubleEq(1)));  // 1/1 and 2/2
  EXPECT_THAT(probe.batch_variance_gap(), ElementsAre(IsNan(), DoubleEq(kLn2)));
}

TEST(BatchInstruments, LeaveOutPaddedRowsAndStepsWithoutAVariance) {
  ActivationProbe probe(1);
  // (samples, steps, width): the third sample is padded, and the second step has a single sample.
  const at::Tensor steps[] = {at::cat({two_rows(), at::full({1, 2}, 100.0, at::kDouble)}),
                              at::full({3, 2}, 50.0, at::kDouble)};
  const at::Tensor real = at::tensor({1, 1, 1, 0, 0, 0}).to(at::kBool).view({3, 2});
  probe.saw_batch(0, {at::stack(steps, 1), real, at::zeros({2, 2}, at::kDouble),
                      at::tensor({1.0, 4.0, 1.0, 1.0}).view({2, 2})});
  EXPECT_THAT(probe.batch_mean_gap(), ElementsAre(DoubleEq(1)));
  EXPECT_THAT(probe.batch_variance_gap(), ElementsAre(DoubleEq(kLn2)));
}

TEST(BatchInstruments, TakeMeanSquaresWhereNoMeanIsKept) {
  ActivationProbe probe(1);
  probe.saw_batch(0, {two_rows(), {}, {}, at::tensor({1.0, 4.0})});  // mean squares 2 and 8
  EXPECT_THAT(probe.batch_mean_gap(), ElementsAre(IsNan()));
  EXPECT_THAT(probe.batch_variance_gap(), ElementsAre(DoubleEq(kLn2)));
}

TEST(StreamInstruments, CountDimensionsAboveSixTimesTheMedian) {
  ActivationProbe probe(1);
  const at::Tensor signs = at::tensor({1.0, -1.0}).unsqueeze(1);
  probe.saw_layer(0, signs * at::tensor({1.0, 1.0, 1.0, 6.0, 6.5, 0.5, 20.0}));
  EXPECT_THAT(probe.outlier_dimensions(), ElementsAre(2.0));
}

TEST(StreamInstruments, FindTheExponentOfGrowth) {
  ActivationProbe probe(4);
  for (int i = 0; i < 4; ++i) probe.saw_layer(i, at::full({2, 2}, 3 * std::sqrt(i + 1.0)));
  EXPECT_NEAR(probe.growth_exponent(), 0.5, 1e-7);  // the stream is f32
  EXPECT_THAT(ActivationProbe(1).growth_exponent(), IsNan());
}

TEST(LineFit, TakesTheSlopeOfLeastSquares) {
  const double x[] = {0, 1, 2};
  const double y[] = {0, 1, 5};
  EXPECT_EQ(least_squares_slope(x, y), 2.5);
  EXPECT_EQ(least_squares_slope(std::vector<double>{1, 1}, std::vector<double>{0, 1}), 0);
}

TEST(OutputInstruments, TakeTheMeanLogsumexpOfTheTargets) {
  ActivationProbe probe(1);
  EXPECT_THAT(probe.logsumexp(), IsNan());
  const at::Tensor logits = at::tensor({0.0, 0.0, std::log(7.0), 0.0, 99.0, 99.0}).view({3, 2});
  probe.saw_logits(logits, at::tensor({0, 1, static_cast<int>(kNoTarget)}, at::kLong));
  EXPECT_DOUBLE_EQ(probe.logsumexp(), 2 * kLn2);  // mean of log 2 and log 8
}

// Queries and keys (1, 2 heads, 4 tokens, 2): all scores of the first head are equal, the second
// head's queries see the key of their own token by far as the largest.
AttentionInput two_heads() {
  const at::Tensor even = at::ones({4, 2});
  const at::Tensor own =
      50 * at::tensor({1.0F, 0.0F, -1.0F, 0.0F, 0.0F, 1.0F, 0.0F, -1.0F}).view({4, 2});
  const at::Tensor both = at::stack({even, own}).unsqueeze(0);
  return {both, both, 0.5, {}, false};
}

TEST(AttentionInstruments, MeasureScoresAndEntropyByLayerAndHead) {
  AttentionProbe probe(3);
  AttentionInput input = two_heads();
  probe.saw_attention(0, input);
  input.causal = true;
  probe.saw_attention(2, input);
  EXPECT_THAT(probe.max_logit(), ElementsAre(1250.0, IsNan(), 1250.0));
  EXPECT_THAT(probe.collapsed_heads(), ElementsAre(0.5, IsNan(), 0.5));
  // f32 logarithms.
  const double causal = (0 + kLn2 + std::log(3.0) + 2 * kLn2) / 4;
  EXPECT_THAT(probe.entropy(),
              ElementsAre(ElementsAre(DoubleNear(2 * kLn2, 1e-6), 0.0), ElementsAre(),
                          ElementsAre(DoubleNear(causal, 1e-6), 0.0)));
  const auto all = probe.metrics();
  EXPECT_EQ(all.at("max_logit"), 1250.0);
  EXPECT_NEAR(all.at("attention_entropy"), (2 * kLn2 + causal) / 4, 1e-6);
  EXPECT_EQ(all.at("collapsed_heads"), 0.5);
  EXPECT_TRUE(AttentionProbe(2).metrics().empty());
}

TEST(AttentionInstruments, LeaveOutMaskedKeys) {
  AttentionProbe probe(1);
  AttentionInput input = two_heads();
  input.mask = at::tensor({1, 1, 0, 0}).to(at::kBool).view({1, 1, 1, 4});
  probe.saw_attention(0, input);
  EXPECT_NEAR(probe.entropy().at(0).at(0), kLn2, 1e-6);
}

TEST(ActivationProbe, WritesNullForWhatALayerLacks) {
  ActivationProbe probe(1);
  probe.saw_layer(0, at::ones({2, 2}));
  nlohmann::ordered_json event;
  probe.add_to(event);
  EXPECT_EQ(event.dump(),
            R"({"activation_rms":[1.0],"activation_max":[1.0],"branch_ratio":[0.0],)"
            R"("growth_exponent":null,"outlier_dimensions":[0.0],"smallest_row_variance":[null],)"
            R"("eps_share":[null],"rows_near_eps":[null],"batch_mean_gap":[null],)"
            R"("batch_variance_gap":[null],"max_logit":[null],"attention_entropy":[[]],)"
            R"("collapsed_heads":[null],"logsumexp":null})");
}

}  // namespace
}  // namespace equinorm::lab
