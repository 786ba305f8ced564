// BatchNorm against LayerNorm of its channels: running statistics, masks, statistics of positions,
// elements that stay apart outside training.
#include <gtest/gtest.h>

#include <cmath>

#include "image.hpp"

namespace equinorm::test {
namespace {

struct Batch {
  Shape shape{4, 5, 13};
  Memory memory = Memory::channels_first;
  BatchNormOptions options;
  Floats running_mean, running_variance;
  Floats x = numbers(shape.size(), 1, 3);
  Floats dy = numbers(shape.size(), 2);
  double momentum = 0.1;

  Results run() {
    Image x_image(shape, memory, x), dy_image(shape, memory, dy);
    Image y(shape, memory), dx(shape, memory);
    const Floats gamma = numbers(shape.c, 3, 1), beta = numbers(shape.c, 4);
    Results r{{}, {}, Floats(gamma.size()), Floats(beta.size())};
    const auto given = [](Floats& v) { return v.empty() ? Vector{} : vector(v); };
    Context context;
    check(batch_norm_backward({dy_image.view(), x_image.view(), options, vector(gamma),
                               options.training ? ConstVector{} : given(running_mean),
                               options.training ? ConstVector{} : given(running_variance),
                               dx.view(), vector(r.dgamma), vector(r.dbeta)},
                              context));
    check(batch_norm_forward({x_image.view(), options, vector(gamma), vector(beta),
                              given(running_mean), given(running_variance), momentum, y.view()},
                             context));
    r.y = y.values();
    r.dx = dx.values();
    return r;
  }
};

TEST(BatchNorm, NormalizesAChannelLikeARowAndUpdatesRunningStatistics) {
  for (const Memory memory : kMemories) {
    Batch b;
    b.memory = memory;
    b.running_mean = Floats(5, 0.5f);
    b.running_variance = Floats(5, 2.0f);
    const Results r = b.run();
    const Floats by_channel = permuted(b.x, b.shape, "cns");
    const Floats dy = permuted(b.dy, b.shape, "cns");
    const Floats y = permuted(r.y, b.shape, "cns"), dx = permuted(r.dx, b.shape, "cns");
    const Floats gamma = numbers(5, 3, 1), beta = numbers(5, 4);
    const std::int64_t each = 4 * 13;
    for (std::int64_t c = 0; c < 5; ++c) {
      const auto row = [&](const Floats& v) {
        return Floats(v.begin() + c * each, v.begin() + (c + 1) * each);
      };
      const Plain p = layer_norm(1, row(by_channel), Floats(each, gamma[c]), Floats(each, beta[c]),
                                 row(dy), 1e-5);
      EXPECT_EQ(row(y), p.y);
      double mean = 0, var = 0, dgamma = 0, dbeta = 0;
      for (const float v : row(by_channel)) mean += v / double(each);
      for (const float v : row(by_channel)) var += (v - mean) * (v - mean) / double(each);
      for (std::int64_t i = 0; i < each; ++i) {
        EXPECT_NEAR(row(dx)[i], p.dx[i], 1e-6);
        dgamma += row(dy)[i] * (row(by_channel)[i] - mean) / std::sqrt(var + 1e-5);
        dbeta += row(dy)[i];
      }
      EXPECT_NEAR(r.dgamma[c], dgamma, 1e-5);
      EXPECT_NEAR(r.dbeta[c], dbeta, 1e-5);
      EXPECT_NEAR(b.running_mean[c], 0.9 * 0.5f + 0.1 * mean, 1e-7);
      EXPECT_NEAR(b.running_variance[c], 0.9 * 2.0f + 0.1 * var * each / (each - 1), 2e-7);
    }
  }
}

TEST(BatchNorm, UsesRunningStatisticsOutsideTraining) {
  Batch b;
  b.options.training = false;
  b.running_mean = numbers(5, 8);
  b.running_variance = numbers(5, 9, 2);
  const Floats mean = b.running_mean;
  const Results r = b.run();
  EXPECT_EQ(b.running_mean, mean);
  const Floats gamma = numbers(5, 3, 1), beta = numbers(5, 4);
  for (std::size_t i = 0; i < b.x.size(); ++i) {
    const std::size_t c = i / 13 % 5;
    const double rstd = 1 / std::sqrt(double(b.running_variance[c]) + 1e-5);
    EXPECT_NEAR(r.y[i], (b.x[i] - mean[c]) * rstd * gamma[c] + beta[c], 2e-6);
    EXPECT_NEAR(r.dx[i], b.dy[i] * gamma[c] * rstd, 1e-6);
  }
}

TEST(BatchNorm, KeepsElementsApartOutsideTraining) {
  Batch b;
  b.options.training = false;
  b.running_mean = numbers(5, 8);
  b.running_variance = numbers(5, 9, 2);
  const Results healthy = b.run();
  b.x[3] = std::nanf("");
  b.x[17] = HUGE_VALF;
  b.x[40] = 1e25f;
  b.dy[50] = std::nanf("");
  const Results broken = b.run();
  for (std::size_t i = 0; i < b.x.size(); ++i) {
    const bool spoiled = i == 3 || i == 17 || i == 40;
    EXPECT_TRUE(spoiled || broken.y[i] == healthy.y[i]) << i;
    EXPECT_TRUE(i == 50 || broken.dx[i] == healthy.dx[i]) << i;
  }
  EXPECT_TRUE(std::isnan(broken.y[3]) && std::isinf(broken.y[17]) && std::isnan(broken.dx[50]));
  EXPECT_TRUE(std::isfinite(broken.y[40]));
}

TEST(BatchNorm, LeavesMaskedElementsOut) {
  for (const Memory memory : kMemories) {
    Batch all;
    all.memory = memory;
    all.running_mean = Floats(5, 0.5f);
    all.running_variance = Floats(5, 2.0f);
    Batch real = all;
    const std::vector<std::uint8_t> mask = {1, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1, 0, 0, 0, 1,
                                            1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                            0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0};
    all.options.mask = mask.data();
    // The same elements as one sample of as many positions.
    std::int64_t count = 0;
    for (const std::uint8_t m : mask) count += m;
    real.shape = {1, 5, count};
    const auto pick = [&](const Floats& v) {
      Floats kept;
      const Floats by_channel = permuted(v, all.shape, "cns");
      for (std::size_t i = 0; i < by_channel.size(); ++i) {
        if (mask[i % mask.size()] != 0) kept.push_back(by_channel[i]);
      }
      return kept;
    };
    real.x = pick(all.x);
    real.dy = pick(all.dy);
    for (std::size_t i = 0; i < all.x.size(); ++i) {
      const std::size_t n = i / (5 * 13), s = i % 13;
      if (mask[n * 13 + s] == 0) all.x[i] = all.dy[i] = std::nanf("");  // must not matter
    }
    const Results a = all.run(), r = real.run();
    EXPECT_EQ(pick(a.y), r.y);
    EXPECT_EQ(pick(a.dx), r.dx);
    EXPECT_EQ(a.dgamma, r.dgamma);
    EXPECT_EQ(a.dbeta, r.dbeta);
    EXPECT_EQ(all.running_mean, real.running_mean);
    EXPECT_EQ(all.running_variance, real.running_variance);
    for (std::size_t i = 0; i < a.y.size(); ++i) {
      if (mask[i / (5 * 13) * 13 + i % 13] == 0) {
        EXPECT_EQ(a.y[i], 0);
        EXPECT_EQ(a.dx[i], 0);
      }
    }
  }
}

TEST(BatchNorm, HasStatisticsOfEachPositionWhereAsked) {
  Batch b;
  b.options.per_position = true;
  b.running_mean = Floats(5 * 4, 0.0f);  // 4 steps of 13 positions
  b.running_variance = Floats(5 * 4, 1.0f);
  const Results r = b.run();
  const Floats before = b.running_mean;
  Floats dbeta(5);
  for (std::int64_t t = 0; t < 13; ++t) {
    Batch step;
    step.shape = {4, 5, 1};
    step.running_mean = Floats(5, 0.0f);
    step.running_variance = Floats(5, 1.0f);
    const auto of_step = [&](const Floats& v) {
      Floats values;
      for (std::size_t i = static_cast<std::size_t>(t); i < v.size(); i += 13) {
        values.push_back(v[i]);
      }
      return values;
    };
    step.x = of_step(b.x);
    step.dy = of_step(b.dy);
    const Results one = step.run();
    EXPECT_EQ(of_step(r.y), one.y);
    EXPECT_EQ(of_step(r.dx), one.dx);
    for (std::size_t c = 0; c < 5; ++c) {
      dbeta[c] += one.dbeta[c];
      if (t < 4) {
        EXPECT_EQ(b.running_mean[static_cast<std::size_t>(t) * 5 + c], step.running_mean[c]);
      }
    }
  }
  for (std::size_t c = 0; c < 5; ++c) EXPECT_NEAR(r.dbeta[c], dbeta[c], 1e-6);
  // Later positions take the statistics of the last step.
  b.options.training = false;
  const Results late = b.run();
  for (std::size_t c = 0; c < 5; ++c) {
    const double rstd = 1 / std::sqrt(double(b.running_variance[15 + c]) + 1e-5);
    const double want =
        (b.x[c * 13 + 12] - b.running_mean[15 + c]) * rstd * numbers(5, 3, 1)[c] + numbers(5, 4)[c];
    EXPECT_NEAR(late.y[c * 13 + 12], want, 5e-6);
  }
  EXPECT_EQ(b.running_mean, before);
}

}  // namespace
}  // namespace equinorm::test
