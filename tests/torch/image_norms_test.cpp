// GroupNorm, InstanceNorm, BatchNorm and LayerNorm of images against PyTorch's in double, over
// their options, shapes and memory layouts: results, gradients and running statistics.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <string>
#include <vector>

#include "equinorm/torch/images.hpp"
#include "image_checks.hpp"

namespace equinorm::tests {
namespace {

namespace eq = ::equinorm::torch;

const std::vector<Sizes>& shapes() {
  static const std::vector<Sizes> all = {{4, 6},       {3, 6, 5},       {2, 6, 3, 7},
                                         {5, 6, 1, 1}, {2, 6, 2, 3, 4}, {1, 6, 17, 33},
                                         {1, 6, 1},    {33, 6, 2, 5},   {2, 6, 65, 1}};
  return all;
}

std::vector<at::Tensor> formats_of(const at::Tensor& x) {
  if (x.dim() == 4) return {x, x.contiguous(at::MemoryFormat::ChannelsLast)};
  if (x.dim() == 5) return {x, x.contiguous(at::MemoryFormat::ChannelsLast3d)};
  return {x};
}

/// Calls `test` with every shape, memory format and affine combination.
template <class Test>
void for_all(const Test& test) {
  for (const auto& sizes : shapes()) {
    for (unsigned affine = 0; affine < 4; ++affine) {
      for (const auto& x : formats_of(normal(sizes, at::kDouble, 103, 0.3))) {
        SCOPED_TRACE(::testing::Message() << x.sizes() << x.strides() << " affine " << affine);
        test(x, Affine(affine, sizes[1], at::kDouble), normal(sizes, at::kDouble, 104));
      }
    }
  }
}

TEST(ImageNorms, GroupNormIsPyTorchs) {
  for_all([](const at::Tensor& x, const Affine& a, const at::Tensor& dy) {
    for (const std::int64_t groups : {1, 2, 3, 6}) {
      // A group of one element is a constant: PyTorch's errors there are its own.
      if (x.numel() / x.size(0) == groups) continue;
      const auto ours = [&](const auto& t, const auto& w, const auto& b) {
        return eq::group_norm(t, groups, w, b, 1e-3);
      };
      const auto theirs = [&](const auto& t, const auto& w, const auto& b) {
        return at::group_norm(t, groups, w, b, 1e-3, false);
      };
      const auto got = outcome_of(ours, x, a.weight, a.bias, dy);
      expect_close(got, outcome_with_units(theirs, x, a.weight, a.bias, dy));
      EXPECT_EQ(got.y.suggest_memory_format(), x.suggest_memory_format());
      EXPECT_EQ(got.dx.suggest_memory_format(), x.suggest_memory_format());
    }
  });
}

struct Running {
  at::Tensor mean, variance;
  explicit Running(std::int64_t channels, at::ScalarType type = at::kDouble)
      : mean(normal({channels}, type, 105)), variance(normal({channels}, type, 106).abs() + 0.1) {}
};

TEST(ImageNorms, BatchNormIsPyTorchsWithItsRunningStatistics) {
  for_all([](const at::Tensor& x, const Affine& a, const at::Tensor& dy) {
    if (x.numel() == x.size(1)) return;  // one element per channel: tested below
    for (const bool training : {true, false}) {
      for (const double momentum : {0.0, 0.1, 1.0}) {
        Running mine(6), its(6);
        const auto ours = [&](const auto& t, const auto& w, const auto& b) {
          return eq::batch_norm(t, mine.mean, mine.variance, w, b, training, momentum, 1e-3);
        };
        const auto theirs = [&](const auto& t, const auto& w, const auto& b) {
          return at::batch_norm(t, w, b, its.mean, its.variance, training, momentum, 1e-3, false);
        };
        const auto got = outcome_of(ours, x, a.weight, a.bias, dy);
        expect_close(got, outcome_of(theirs, x, a.weight, a.bias, dy));
        expect_close(mine.mean, its.mean, "running_mean");
        expect_close(mine.variance, its.variance, "running_var");
        EXPECT_EQ(got.y.suggest_memory_format(), x.suggest_memory_format());
      }
    }
  });
}

TEST(ImageNorms, BatchNormWithoutRunningStatisticsUsesTheBatchs) {
  const auto x = normal({3, 6, 5}, at::kDouble, 107);
  expect_close(eq::batch_norm(x, {}, {}, {}, {}, true),
               at::batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false), "y");
}

TEST(ImageNorms, InstanceNormIsPyTorchsWithItsRunningStatistics) {
  for_all([](const at::Tensor& x, const Affine& a, const at::Tensor& dy) {
    if (x.dim() < 3 || x.numel() == x.size(0) * x.size(1)) return;
    for (const bool own : {true, false}) {
      for (const bool tracked : {true, false}) {
        if (!own && !tracked) continue;
        Running mine(6), its(6);
        const at::Tensor none;
        const auto ours = [&](const auto& t, const auto& w, const auto& b) {
          return eq::instance_norm(t, tracked ? mine.mean : none, tracked ? mine.variance : none, w,
                                   b, own, 0.2, 1e-3);
        };
        const auto theirs = [&](const auto& t, const auto& w, const auto& b) {
          return at::instance_norm(t, w, b, tracked ? its.mean : none,
                                   tracked ? its.variance : none, own, 0.2, 1e-3, false);
        };
        expect_close(outcome_of(ours, x, a.weight, a.bias, dy),
                     outcome_with_units(theirs, x, a.weight, a.bias, dy));
        expect_close(mine.mean, its.mean, "running_mean");
        expect_close(mine.variance, its.variance, "running_var");
      }
    }
  });
}

TEST(ImageNorms, LayerNorm2dIsLayerNormOfEachPosition) {
  for_all([](const at::Tensor& x, const Affine& a, const at::Tensor& dy) {
    const auto ours = [](const auto& t, const auto& w, const auto& b) {
      return eq::layer_norm_2d(t, w, b);
    };
    const auto theirs = [](const auto& t, const auto& w, const auto& b) {
      return at::layer_norm(t.movedim(1, -1), {6}, w, b, 1e-6).movedim(-1, 1);
    };
    const auto got = outcome_of(ours, x, a.weight, a.bias, dy);
    expect_close(got, outcome_of(theirs, x, a.weight, a.bias, dy));
    EXPECT_EQ(got.y.suggest_memory_format(), x.suggest_memory_format());
  });
}

TEST(ImageNorms, LayerNormOfSamplesIsPyTorchs) {
  for_all([](const at::Tensor& x, const Affine& a, const at::Tensor& dy) {
    const auto sample = x.sizes().slice(1).vec();
    const auto spread = [&](const at::Tensor& t, std::uint64_t seed) {
      return t.defined() ? normal(sample, at::kDouble, seed) : at::Tensor();
    };
    const auto ours = [](const auto& t, const auto& w, const auto& b) {
      return eq::layer_norm_chw(t, w, b);
    };
    const auto theirs = [&](const auto& t, const auto& w, const auto& b) {
      return at::layer_norm(t, sample, w, b, 1e-5);
    };
    const auto weight = spread(a.weight, 108);
    const auto bias = spread(a.bias, 109);
    expect_close(outcome_of(ours, x, weight, bias, dy), outcome_of(theirs, x, weight, bias, dy));
  });
}

TEST(ImageNorms, RunningStatisticsOfOneElementCountAsOfVarianceZero) {
  Running batch(6), instance(6);
  const Running before(6);
  const auto x = normal({1, 6, 1}, at::kDouble, 110);
  EXPECT_TRUE(same_bits(eq::batch_norm(x, batch.mean, batch.variance, {}, {}, true),
                        at::zeros({1, 6, 1}, at::kDouble)));
  eq::instance_norm(x, instance.mean, instance.variance);
  for (const Running* r : {&batch, &instance}) {
    expect_close(r->mean, before.mean * 0.9 + x.flatten() * 0.1, "running_mean");
    expect_close(r->variance, before.variance * 0.9, "running_var");
  }
}

TEST(ImageNorms, RunningStatisticsMayBeStridedAndOfAnotherType) {
  const auto x = normal({8, 6, 4}, at::kBFloat16, 111, 2);
  auto both = at::ones({6, 2}, at::kFloat);
  const auto mean = both.select(1, 0);
  const auto variance = both.select(1, 1);
  eq::batch_norm(x, mean, variance, {}, {}, true, 1.0);
  const auto wide = x.to(at::kDouble).transpose(0, 1).flatten(1);
  EXPECT_LE(largest_of(mean - wide.mean(1)), 0x1p-23);
  EXPECT_LE(largest_of(variance - wide.var(1)), 0x1p-23);
}

TEST(ImageNorms, ElementaryOperatorsComputeAndRecordTheSame) {
  for_all([](const at::Tensor& x, const Affine& a, const at::Tensor&) {
    const eq::detail::NormInputs in{x, a.weight, a.bias};
    const eq::detail::GroupNormOperator group("group_norm", 3, 1e-3);
    if (x.numel() / x.size(0) != 3) {
      expect_close(group.composite(in), eq::group_norm(x, 3, a.weight, a.bias, 1e-3), "group");
    }
    const eq::detail::ImageLayerNormOperator layer("layer_norm_2d", LayerAxes::channels, 1e-6);
    expect_close(layer.composite(in), eq::layer_norm_2d(x, a.weight, a.bias), "layer_norm_2d");
    Running mine(6), its(6);
    const eq::detail::RecordingInstanceNorm instance(6, 1e-3, {its.mean, its.variance, 0.2});
    expect_close(instance.composite(in),
                 eq::instance_norm(x, mine.mean, mine.variance, a.weight, a.bias, true, 0.2, 1e-3),
                 "instance");
    instance.record(x);
    expect_close(mine.mean, its.mean, "running_mean");
    expect_close(mine.variance, its.variance, "running_var");
  });
}

TEST(ImageNorms, StatisticsThatChangeBeforeTheBackwardPassAreAnError) {
  const auto x = leaf(normal({8, 6}, at::kFloat, 112));
  Running running(6, at::kFloat);
  const auto y = eq::batch_norm(x, running.mean, running.variance);
  eq::batch_norm(x.detach(), running.mean, running.variance, {}, {}, true);
  EXPECT_THROW(y.sum().backward(), c10::Error);
}

}  // namespace
}  // namespace equinorm::tests
