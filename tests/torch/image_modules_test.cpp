// The modules GroupNorm, InstanceNorm, BatchNorm and LayerNorm2d: options, state shared with
// torch::nn, running statistics over steps, printing.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <sstream>
#include <string>
#include <vector>

#include "equinorm/torch/image_modules.hpp"
#include "image_checks.hpp"

namespace equinorm::tests {
namespace {

namespace eq = ::equinorm::torch;

template <class From, class Into>
void move_state(const From& from, Into& into) {
  std::stringstream stream;
  ::torch::save(from, stream);
  ::torch::load(into, stream);
}

/// Every parameter and buffer of `module` that counts as numbers, filled.
template <class Module>
void fill(Module& module) {
  const at::NoGradGuard no_grad;
  std::uint64_t seed = 801;
  for (auto& t : module->parameters()) t.copy_(normal(t.sizes(), at::kDouble, seed++));
  for (auto& t : module->buffers()) {
    if (t.is_floating_point()) t.copy_(normal(t.sizes(), at::kDouble, seed++).abs() + 0.1);
  }
}

/// Steps in training, then outside, side by side in double, after the state went over and back.
template <class Ours, class Theirs>
void expect_drop_in(Ours ours, Theirs theirs, const Sizes& sizes) {
  SCOPED_TRACE(::testing::Message() << *ours << " for " << *theirs);
  ours->to(at::kDouble);
  theirs->to(at::kDouble);
  EXPECT_EQ(ours->named_parameters().keys(), theirs->named_parameters().keys());
  EXPECT_EQ(ours->named_buffers().keys(), theirs->named_buffers().keys());
  fill(theirs);
  move_state(theirs, ours);
  for (std::uint64_t step = 0; step < 3; ++step) {
    const auto x = normal(sizes, at::kDouble, 810 + step, 0.5);
    expect_close(ours(x).detach(), theirs(x).detach(), "in training");
  }
  ours->eval();
  theirs->eval();
  const auto x = normal(sizes, at::kDouble, 820);
  expect_close(ours(x).detach(), theirs(x).detach(), "outside training");
  for (const auto& item : theirs->named_buffers()) {
    const auto& mine = ours->named_buffers()[item.key()];
    EXPECT_EQ(mine.scalar_type(), item.value().scalar_type());
    expect_close(mine.to(at::kDouble), item.value().to(at::kDouble), item.key());
  }
  move_state(ours, theirs);
  for (const auto& item : ours->named_buffers()) {
    EXPECT_TRUE(same_bits(item.value(), theirs->named_buffers()[item.key()])) << item.key();
  }
}

TEST(ImageModules, GroupNormIsADropIn) {
  for (const bool affine : {true, false}) {
    expect_drop_in(
        eq::GroupNorm(eq::GroupNormOptions(3, 6).eps(1e-3).affine(affine)),
        ::torch::nn::GroupNorm(::torch::nn::GroupNormOptions(3, 6).eps(1e-3).affine(affine)),
        {4, 6, 5, 7});
  }
}

TEST(ImageModules, BatchNormIsADropIn) {
  for (const bool affine : {true, false}) {
    for (const bool tracks : {true, false}) {
      for (const std::optional<double> momentum : {std::optional(0.3), std::optional<double>()}) {
        const auto ours =
            eq::BatchNormOptions(6).eps(1e-3).affine(affine).momentum(momentum).track_running_stats(
                tracks);
        const auto theirs = ::torch::nn::BatchNormOptions(6)
                                .eps(1e-3)
                                .affine(affine)
                                .momentum(momentum)
                                .track_running_stats(tracks);
        expect_drop_in(eq::BatchNorm1d(ours), ::torch::nn::BatchNorm1d(theirs), {8, 6});
        expect_drop_in(eq::BatchNorm1d(ours), ::torch::nn::BatchNorm1d(theirs), {8, 6, 5});
        expect_drop_in(eq::BatchNorm2d(ours), ::torch::nn::BatchNorm2d(theirs), {3, 6, 5, 4});
      }
    }
  }
}

TEST(ImageModules, InstanceNormIsADropIn) {
  for (const bool affine : {true, false}) {
    for (const bool tracks : {true, false}) {
      const auto ours =
          eq::InstanceNormOptions(6).momentum(0.3).affine(affine).track_running_stats(tracks);
      const auto theirs =
          ::torch::nn::InstanceNormOptions(6).momentum(0.3).affine(affine).track_running_stats(
              tracks);
      expect_drop_in(eq::InstanceNorm1d(ours), ::torch::nn::InstanceNorm1d(theirs), {8, 6, 5});
      expect_drop_in(eq::InstanceNorm2d(ours), ::torch::nn::InstanceNorm2d(theirs), {3, 6, 5, 4});
    }
  }
}

TEST(ImageModules, ASampleAloneIsABatchOfOneForInstanceNorm) {
  const auto x = normal({6, 5, 4}, at::kFloat, 830);
  eq::InstanceNorm2d norm(6);
  EXPECT_TRUE(same_bits(norm(x), norm(x.unsqueeze(0)).squeeze(0)));
}

TEST(ImageModules, LayerNorm2dIsTheFunctionWithTheOptions) {
  const auto x = normal({2, 6, 5, 4}, at::kFloat, 831);
  eq::LayerNorm2d norm(eq::LayerNorm2dOptions(6).eps(0.25));
  fill(norm);
  EXPECT_TRUE(same_bits(norm(x), eq::layer_norm_2d(x, norm->weight, norm->bias, 0.25)));
  EXPECT_TRUE(same_bits(eq::LayerNorm2d(6)(x), eq::layer_norm_2d(x)));
}

TEST(ImageModules, ResetGivesAFreshModule) {
  eq::BatchNorm1d norm(6);
  const eq::BatchNorm1d fresh(6);
  fill(norm);
  norm(normal({8, 6}, at::kFloat, 832));
  norm->reset_running_stats();
  norm->reset_parameters();
  for (const auto& item : fresh->named_parameters()) {
    EXPECT_TRUE(same_bits(norm->named_parameters()[item.key()], item.value())) << item.key();
  }
  for (const auto& item : fresh->named_buffers()) {
    EXPECT_TRUE(same_bits(norm->named_buffers()[item.key()], item.value())) << item.key();
  }
}

TEST(ImageModules, TheyLiveInASequentialAndCloneWithStatisticsOfTheirOwn) {
  ::torch::nn::Sequential model(::torch::nn::Conv2d(::torch::nn::Conv2dOptions(3, 6, 3)),
                                eq::BatchNorm2d(6), eq::GroupNorm(eq::GroupNormOptions(2, 6)),
                                eq::InstanceNorm2d(6), eq::LayerNorm2d(6));
  const auto copy = std::dynamic_pointer_cast<::torch::nn::SequentialImpl>(model->clone());
  const auto x = normal({4, 3, 8, 8}, at::kFloat, 833);
  const auto before = copy->named_buffers()["1.running_mean"].clone();
  const auto y = model->forward(x);
  EXPECT_FALSE(same_bits(model->named_buffers()["1.running_mean"], before));
  EXPECT_TRUE(same_bits(copy->named_buffers()["1.running_mean"], before));
  EXPECT_TRUE(same_bits(copy->forward(x), y));
  y.square().sum().backward();
  EXPECT_TRUE(model->named_parameters()["1.weight"].grad().defined());
}

TEST(ImageModules, TheyPrintTheirOptions) {
  std::ostringstream out;
  out << *eq::GroupNorm(eq::GroupNormOptions(2, 6)) << "\n"
      << *eq::BatchNorm2d(eq::BatchNorm2dOptions(6).momentum(std::nullopt)) << "\n"
      << *eq::InstanceNorm1d(6) << "\n"
      << *eq::LayerNorm2d(6);
  EXPECT_EQ(out.str(),
            "equinorm::torch::GroupNorm(2, 6, eps=1e-05, affine=true)\n"
            "equinorm::torch::BatchNorm2d(6, eps=1e-05, momentum=None, affine=true, "
            "track_running_stats=true)\n"
            "equinorm::torch::InstanceNorm1d(6, eps=1e-05, momentum=0.1, affine=false, "
            "track_running_stats=false)\n"
            "equinorm::torch::LayerNorm2d(6, eps=1e-06, affine=true)");
}

TEST(ImageModules, TheyRefuseInputsWithOtherAxes) {
  EXPECT_THROW(eq::BatchNorm1d(6)(at::ones({2, 6, 3, 3})), c10::Error);
  EXPECT_THROW(eq::BatchNorm2d(6)(at::ones({2, 6, 3})), c10::Error);
  EXPECT_THROW(eq::InstanceNorm1d(6)(at::ones({2, 6, 3, 3})), c10::Error);
  EXPECT_THROW(eq::InstanceNorm2d(6)(at::ones({6, 3})), c10::Error);
  EXPECT_THROW(eq::BatchNorm1d(6)(at::ones({2, 5})), c10::Error);
}

}  // namespace
}  // namespace equinorm::tests
