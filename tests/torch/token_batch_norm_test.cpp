// BatchNorm of sequences: real tokens alone, and each time step apart, against BatchNorm of PyTorch
// on the tokens gathered and on each step.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <limits>
#include <string>
#include <vector>

#include "equinorm/torch/token_batch_norm.hpp"
#include "image_checks.hpp"

namespace equinorm::tests {
namespace {

namespace eq = ::equinorm::torch;

constexpr std::int64_t kFeatures = 7;

at::Tensor some_mask(at::IntArrayRef sizes) { return normal(sizes, at::kDouble, 501).gt(-0.5); }

struct Running {
  at::Tensor mean, variance;
  explicit Running(const Sizes& sizes, at::ScalarType type = at::kDouble)
      : mean(normal(sizes, type, 502)), variance(normal(sizes, type, 503).abs() + 0.1) {}
};

TEST(MaskedBatchNorm, IsBatchNormOfTheRealTokens) {
  for (const bool training : {true, false}) {
    for (unsigned affine = 0; affine < 4; ++affine) {
      const Affine a(affine, kFeatures, at::kDouble);
      const auto x = normal({5, 9, kFeatures}, at::kDouble, 504, 0.5);
      const auto dy = normal({5, 9, kFeatures}, at::kDouble, 505);
      const auto mask = some_mask({5, 9});
      Running mine(Sizes{kFeatures}), its(Sizes{kFeatures});
      const ImageNorm ours = [&](const auto& t, const auto& w, const auto& b) {
        return eq::masked_batch_norm(t, mask, mine.mean, mine.variance, w, b, training, 0.2);
      };
      const ImageNorm theirs = [&](const auto& t, const auto& w, const auto& b) {
        const auto y = at::batch_norm(t.index({mask}), w, b, its.mean, its.variance, training, 0.2,
                                      1e-5, false);
        return at::zeros_like(t).index_put({mask}, y);
      };
      SCOPED_TRACE(::testing::Message() << training << affine);
      const auto got = outcome_of(ours, x, a.weight, a.bias, dy);
      expect_close(got, outcome_of(theirs, x, a.weight, a.bias, dy));
      expect_close(mine.mean, its.mean, "running_mean");
      expect_close(mine.variance, its.variance, "running_var");
      EXPECT_TRUE(got.y.is_contiguous());
      EXPECT_TRUE(same_bits(
          eq::masked_batch_norm(x.flatten(0, 1), mask.flatten(), its.mean, its.variance, a.weight,
                                a.bias, training),
          eq::masked_batch_norm(x, mask, mine.mean, mine.variance, a.weight, a.bias, training)
              .flatten(0, 1)));
    }
  }
}

TEST(MaskedBatchNorm, PaddingHasNoPartWhateverItHolds) {
  for (const auto type : all_types()) {
    const auto mask = some_mask({4, 8});
    auto x = normal({4, 8, kFeatures}, type, 506);
    auto dy = normal({4, 8, kFeatures}, type, 507);
    const Affine a(3, kFeatures, type);
    const ImageNorm norm = [&](const auto& t, const auto& w, const auto& b) {
      return eq::masked_batch_norm(t, mask, {}, {}, w, b, true);
    };
    const auto want = outcome_of(norm, x, a.weight, a.bias, dy);
    x.index_put_({mask.logical_not()}, std::numeric_limits<double>::quiet_NaN());
    dy.index_put_({mask.logical_not()}, std::numeric_limits<double>::infinity());
    const auto got = outcome_of(norm, x, a.weight, a.bias, dy);
    expect_same_bits(got, want);
    EXPECT_EQ(largest_of(got.y.index({mask.logical_not()}).to(at::kDouble)), 0);
    EXPECT_EQ(largest_of(got.dx.index({mask.logical_not()}).to(at::kDouble)), 0);
  }
}

TEST(MaskedBatchNorm, AFullMaskIsNone) {
  const auto x = normal({4, 8, kFeatures}, at::kFloat, 508);
  const auto all = at::ones({4, 8}, at::kBool);
  const auto want = eq::masked_batch_norm(x, {}, {}, {}, {}, {}, true);
  EXPECT_TRUE(same_bits(eq::masked_batch_norm(x, all, {}, {}, {}, {}, true), want));
  EXPECT_TRUE(
      same_bits(eq::batch_norm(x.transpose(1, 2), {}, {}, {}, {}, true).transpose(1, 2), want));
}

TEST(MaskedBatchNorm, WithoutARealTokenTheStatisticsStay) {
  Running running(Sizes{kFeatures});
  const Running before(Sizes{kFeatures});
  const auto x = normal({2, 3, kFeatures}, at::kDouble, 509);
  const auto none = at::zeros({2, 3}, at::kBool);
  const auto y = eq::masked_batch_norm(x, none, running.mean, running.variance, {}, {}, true);
  EXPECT_TRUE(same_bits(y, at::zeros_like(x)));
  EXPECT_TRUE(same_bits(running.mean, before.mean));
  EXPECT_TRUE(same_bits(running.variance, before.variance));
}

/// Time steps as PyTorch's BatchNorm, one at a time; `steps` of them have statistics.
at::Tensor step_by_step(const at::Tensor& x, Running& running, const at::Tensor& w,
                        const at::Tensor& b, bool training) {
  std::vector<at::Tensor> all;
  const auto steps = running.mean.size(0);
  for (std::int64_t t = 0; t < x.size(1); ++t) {
    const bool recorded = t < steps || !training;
    const auto s = std::min(t, steps - 1);
    all.push_back(at::batch_norm(x.select(1, t), w, b, recorded ? running.mean[s] : at::Tensor(),
                                 recorded ? running.variance[s] : at::Tensor(), training, 0.1, 1e-5,
                                 false));
  }
  return at::stack(all, 1);
}

TEST(PerStepBatchNorm, IsBatchNormOfEachStep) {
  for (const bool training : {true, false}) {
    for (const std::int64_t steps : {1, 3, 5, 8}) {  // x has 5
      for (unsigned affine = 0; affine < 4; ++affine) {
        const Affine a(affine, kFeatures, at::kDouble);
        const auto x = normal({6, 5, kFeatures}, at::kDouble, 510, 0.5);
        const auto dy = normal({6, 5, kFeatures}, at::kDouble, 511);
        Running mine(Sizes{steps, kFeatures}), its(Sizes{steps, kFeatures});
        const ImageNorm ours = [&](const auto& t, const auto& w, const auto& b) {
          return eq::per_step_batch_norm(t, mine.mean, mine.variance, w, b, training);
        };
        const ImageNorm theirs = [&](const auto& t, const auto& w, const auto& b) {
          return step_by_step(t, its, w, b, training);
        };
        SCOPED_TRACE(::testing::Message() << training << steps << affine);
        expect_close(outcome_of(ours, x, a.weight, a.bias, dy),
                     outcome_of(theirs, x, a.weight, a.bias, dy));
        expect_close(mine.mean, its.mean, "running_mean");
        expect_close(mine.variance, its.variance, "running_var");
      }
    }
  }
}

TEST(TokenBatchNorm, ElementaryOperatorsComputeAndRecordTheSame) {
  const auto x = normal({6, 5, kFeatures}, at::kDouble, 512, 0.5).transpose(1, 2);
  const Affine a(3, kFeatures, at::kDouble);
  for (const bool training : {true, false}) {
    for (const int kind : {0, 1, 2}) {  // plain, masked, per step with fewer and more steps
      for (const std::int64_t steps : {3, 8}) {
        const Sizes sizes = kind == 2 ? Sizes{steps, kFeatures} : Sizes{kFeatures};
        Running one(sizes), other(sizes);
        const auto make = [&](const Running& r) {
          return c10::make_intrusive<eq::detail::BatchNormOperator>(
              eq::detail::BatchNormSettings{.training = training,
                                            .per_position = kind == 2,
                                            .mask = kind == 1 ? some_mask({6, 5}) : at::Tensor(),
                                            .running = {r.mean, r.variance, 0.3}});
        };
        const eq::detail::NormInputs in{x, a.weight, a.bias};
        const auto composed = make(other)->composite(in);
        make(other)->record(x);
        expect_close(eq::detail::apply(make(one), in), composed, "y");
        expect_close(one.mean, other.mean, "running_mean");
        expect_close(one.variance, other.variance, "running_var");
      }
    }
  }
}

TEST(TokenBatchNorm, RefusesWhatDoesNotFit) {
  const auto x = at::ones({2, 3, kFeatures});
  const auto vector = at::ones({kFeatures});
  const auto mask = at::ones({2, 3}, at::kBool);
  EXPECT_THROW(eq::masked_batch_norm(x, mask.to(at::kByte), {}, {}, {}, {}, true), c10::Error);
  EXPECT_THROW(eq::masked_batch_norm(x, mask.t(), {}, {}, {}, {}, true), c10::Error);
  EXPECT_THROW(eq::masked_batch_norm(x, mask, {}, {}), c10::Error);
  EXPECT_THROW(eq::masked_batch_norm(x.unsqueeze(0), mask, {}, {}, {}, {}, true), c10::Error);
  EXPECT_THROW(eq::per_step_batch_norm(x, vector, vector), c10::Error);
  EXPECT_THROW(eq::per_step_batch_norm(x[0], {}, {}, {}, {}, true), c10::Error);
  EXPECT_THROW(eq::per_step_batch_norm(x, at::ones({0, kFeatures}), at::ones({0, kFeatures})),
               c10::Error);
  EXPECT_THROW(eq::per_step_batch_norm(x, at::ones({2, kFeatures}), at::ones({3, kFeatures})),
               c10::Error);
}

}  // namespace
}  // namespace equinorm::tests
