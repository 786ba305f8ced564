// GroupNorm and LayerNorm of images against LayerNorm of the same rows copied together: the same
// bits in every memory layout; empty axes; bad arguments.
//
// Bits and bounds of the operator behind them are in tests/conformance.
#include <gtest/gtest.h>

#include <cmath>

#include "image.hpp"

namespace equinorm::test {
namespace {

Results group_norm(Shape shape, std::int64_t groups, Memory memory) {
  Image x(shape, memory, numbers(shape.size(), 1, 3));
  Image dy(shape, memory, numbers(shape.size(), 2));
  Image y(shape, memory), dx(shape, memory);
  const Floats gamma = numbers(shape.c, 3, 1), beta = numbers(shape.c, 4);
  Results r{{}, {}, Floats(gamma.size()), Floats(beta.size())};
  Context context;
  check(
      group_norm_forward({x.view(), groups, vector(gamma), vector(beta), 1e-5, y.view()}, context));
  check(group_norm_backward({dy.view(), x.view(), groups, vector(gamma), 1e-5, dx.view(),
                             vector(r.dgamma), vector(r.dbeta)},
                            context));
  r.y = y.values();
  r.dx = dx.values();
  return r;
}

TEST(GroupNorm, GivesTheSameBitsInEveryMemoryLayout) {
  for (const Shape shape : {Shape{2, 6, 49}, {3, 8, 1}, {1, 4, 200}}) {
    for (const std::int64_t groups : {std::int64_t{1}, std::int64_t{2}, shape.c}) {
      const Results want = group_norm(shape, groups, Memory::channels_first);
      for (const Memory memory : kMemories) {
        EXPECT_EQ(group_norm(shape, groups, memory), want) << groups;
      }
    }
  }
}

TEST(GroupNorm, IsTheFormulaOfItsSource) {
  const Shape shape{2, 6, 49};
  const std::int64_t groups = 3, each = 2 * 49;
  const Floats x = numbers(shape.size(), 1, 3), dy = numbers(shape.size(), 2);
  const Floats gamma = numbers(shape.c, 3, 1), beta = numbers(shape.c, 4);
  const Results r = group_norm(shape, groups, Memory::channels_last);
  std::vector<double> dgamma(6), dbeta(6);
  for (std::int64_t row = 0; row < shape.n * groups; ++row) {
    double mean = 0, var = 0, c1 = 0, c2 = 0;
    const auto at = [&](std::int64_t j) { return static_cast<std::size_t>(row * each + j); };
    const auto channel = [&](std::int64_t j) {
      return static_cast<std::size_t>(row % groups * 2 + j / 49);
    };
    for (std::int64_t j = 0; j < each; ++j) mean += x[at(j)] / double(each);
    for (std::int64_t j = 0; j < each; ++j) var += std::pow(x[at(j)] - mean, 2) / double(each);
    const double rstd = 1 / std::sqrt(var + 1e-5);
    for (std::int64_t j = 0; j < each; ++j) {
      const double xhat = (x[at(j)] - mean) * rstd, g = dy[at(j)] * gamma[channel(j)];
      EXPECT_NEAR(r.y[at(j)], gamma[channel(j)] * xhat + beta[channel(j)], 2e-6);
      dgamma[channel(j)] += dy[at(j)] * xhat;
      dbeta[channel(j)] += dy[at(j)];
      c1 += g / double(each);
      c2 += g * xhat / double(each);
    }
    for (std::int64_t j = 0; j < each; ++j) {
      const double xhat = (x[at(j)] - mean) * rstd, g = dy[at(j)] * gamma[channel(j)];
      EXPECT_NEAR(r.dx[at(j)], rstd * (g - c1 - xhat * c2), 1e-5);
    }
  }
  for (std::size_t c = 0; c < 6; ++c) {
    EXPECT_NEAR(r.dgamma[c], dgamma[c], 3e-5);
    EXPECT_NEAR(r.dbeta[c], dbeta[c], 3e-5);
  }
}

Results image_layer_norm(Shape shape, LayerAxes axes, Memory memory) {
  const std::int64_t size = axes == LayerAxes::channels ? shape.c : shape.c * shape.s;
  Image x(shape, memory, numbers(shape.size(), 1, 3));
  Image dy(shape, memory, numbers(shape.size(), 2));
  Image y(shape, memory), dx(shape, memory);
  const Floats gamma = numbers(size, 3, 1), beta = numbers(size, 4);
  Results r{{}, {}, Floats(gamma.size()), Floats(beta.size())};
  Context context;
  check(image_layer_norm_forward({x.view(), axes, vector(gamma), vector(beta), 1e-6, y.view()},
                                 context));
  check(image_layer_norm_backward({dy.view(), x.view(), axes, vector(gamma), 1e-6, dx.view(),
                                   vector(r.dgamma), vector(r.dbeta)},
                                  context));
  r.y = y.values();
  r.dx = dx.values();
  return r;
}

TEST(ImageLayerNorm, OverChannelsIsLayerNormOfThePositions) {
  const Shape shape{3, 70, 5};
  const Plain p = layer_norm(shape.n * shape.s, permuted(numbers(shape.size(), 1, 3), shape, "nsc"),
                             numbers(shape.c, 3, 1), numbers(shape.c, 4),
                             permuted(numbers(shape.size(), 2), shape, "nsc"), 1e-6);
  const Shape swapped{shape.n, shape.s, shape.c};
  const Results want{permuted(p.y, swapped, "nsc"), permuted(p.dx, swapped, "nsc"), p.dgamma,
                     p.dbeta};
  for (const Memory memory : kMemories) {
    EXPECT_EQ(image_layer_norm(shape, LayerAxes::channels, memory), want);
  }
}

TEST(ImageLayerNorm, OverSamplesIsLayerNormOfTheSamples) {
  const Shape shape{9, 7, 11};
  const std::int64_t size = shape.c * shape.s;
  const Plain p = layer_norm(shape.n, numbers(shape.size(), 1, 3), numbers(size, 3, 1),
                             numbers(size, 4), numbers(shape.size(), 2), 1e-6);
  for (const Memory memory : kMemories) {
    EXPECT_EQ(image_layer_norm(shape, LayerAxes::sample, memory),
              (Results{p.y, p.dx, p.dgamma, p.dbeta}));
  }
}

TEST(EmptyAxes, GiveEmptyOutputsAndZeroGradients) {
  for (const Shape shape : {Shape{0, 4, 3}, {2, 4, 0}, {2, 0, 3}, {0, 0, 0}}) {
    Floats none(64), dgamma(static_cast<std::size_t>(shape.c), 7.0f), dbeta = dgamma;
    const Images view{none.data(), DType::f32,        shape.n, shape.c,
                      shape.s,     shape.c * shape.s, shape.s, 1};
    Context context;
    check(group_norm_forward({view, 2, {}, {}, 1e-5, view}, context));
    check(group_norm_backward({view, view, 2, {}, 1e-5, view, vector(dgamma), vector(dbeta)},
                              context));
    EXPECT_EQ(dgamma, Floats(dgamma.size()));
    EXPECT_EQ(dbeta, Floats(dbeta.size()));
    dgamma.assign(dgamma.size(), 7.0f);
    Floats running(dgamma.size(), 2.0f), running_variance(dgamma.size(), 3.0f);
    check(batch_norm_forward(
        {view, {}, {}, {}, vector(running), vector(running_variance), 0.1, view}, context));
    check(batch_norm_backward({view, view, {}, {}, {}, {}, view, vector(dgamma), vector(dbeta)},
                              context));
    EXPECT_EQ(dgamma, Floats(dgamma.size()));
    EXPECT_EQ(running, Floats(dgamma.size(), 2.0f));
    check(image_layer_norm_forward({view, LayerAxes::channels, {}, {}, 1e-6, view}, context));
  }
}

TEST(BadArguments, AreNamedWithTheirValueAndRule) {
  const Shape shape{2, 6, 4};
  Image x(shape, Memory::channels_first, numbers(shape.size(), 1)), y(shape, Memory::padded);
  const Floats gamma = numbers(5, 3);
  Floats six(6), seven(7);
  Context context;
  const auto expect = [](const Status& status, const char* argument, const char* value) {
    EXPECT_EQ(status.code, StatusCode::invalid_argument);
    EXPECT_STREQ(status.argument, argument);
    EXPECT_STREQ(status.value, value);
  };
  expect(group_norm_forward({x.view(), 4, {}, {}, 1e-5, y.view()}, context), "groups", "4");
  expect(group_norm_forward({x.view(), 0, {}, {}, 1e-5, y.view()}, context), "groups", "0");
  expect(group_norm_forward({x.view(), 3, vector(gamma), {}, 1e-5, y.view()}, context),
         "gamma.size", "5");
  expect(group_norm_forward({x.view(), 3, {}, {}, -1, y.view()}, context), "eps", "-1");
  Images overlapping = y.view();
  overlapping.channel_stride = 1;
  expect(group_norm_forward({x.view(), 3, {}, {}, 1e-5, overlapping}, context), "y.position_stride",
         "2");
  Images other = y.view();
  other.channels = 5;
  expect(group_norm_forward({x.view(), 3, {}, {}, 1e-5, other}, context), "y.channels", "5");
  BatchNormForward batch{x.view(), {}, {}, {}, vector(six), {}, 0.1, y.view()};
  expect(batch_norm_forward(batch, context), "running_variance.data", "null");
  batch.running_variance = vector(seven);
  expect(batch_norm_forward(batch, context), "running_variance.size", "7");
  batch.running_variance = vector(six);
  expect(batch_norm_forward(batch, context), "running_mean", "overlaps running_variance");
  batch.running_mean = batch.running_variance = {};
  batch.momentum = 1.5;
  expect(batch_norm_forward(batch, context), "momentum", "1.5");
  ModulatedNormForward modulated;
  modulated.x = modulated.y = {six.data(), DType::f32, 3, 2, 2};
  modulated.rows_per_group = 2;
  expect(modulated_norm_forward(modulated, context), "rows_per_group", "2");
}

}  // namespace
}  // namespace equinorm::test
