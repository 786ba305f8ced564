// Norms of images, heads and modulated rows against LayerNorm and row norms of the same rows copied
// together: the same bits. Memory layouts, masks, running statistics, empty axes, bad arguments.
//
// Bits and bounds of the operator behind them are in tests/conformance.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "support.hpp"

namespace equinorm::test {
namespace {

using Floats = std::vector<float>;

Floats numbers(std::int64_t count, std::int64_t seed, float offset = 0) {
  Floats v(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) v[i] = number(i + 1000 * seed) + offset;
  return v;
}

ConstVector vector(const Floats& v) { return {v.data(), DType::f32, std::ssize(v)}; }
Vector vector(Floats& v) { return {v.data(), DType::f32, std::ssize(v)}; }

struct Shape {
  std::int64_t n, c, s;
  [[nodiscard]] std::int64_t size() const { return n * c * s; }
};

enum class Memory { channels_first, channels_last, padded };
constexpr Memory kMemories[] = {Memory::channels_first, Memory::channels_last, Memory::padded};

// An image in memory, and its elements in the order (n, c, s).
class Image {
 public:
  Image(Shape shape, Memory memory) : shape_(shape) {
    switch (memory) {
      case Memory::channels_first:
        strides_ = {shape.c * shape.s, shape.s, 1};
        break;
      case Memory::channels_last:
        strides_ = {shape.c * shape.s, 1, shape.c};
        break;
      case Memory::padded:
        strides_ = {shape.c * (2 * shape.s + 3) + 5, 2 * shape.s + 3, 2};
        break;
    }
    data_.assign(static_cast<std::size_t>(shape.n * strides_.n + strides_.c * shape.c + 64), -77);
  }
  Image(Shape shape, Memory memory, const Floats& values) : Image(shape, memory) {
    for_each([&](std::int64_t i, float& v) { v = values[static_cast<std::size_t>(i)]; });
  }

  Images view() {
    return {data_.data(), DType::f32, shape_.n,   shape_.c,
            shape_.s,     strides_.n, strides_.c, strides_.s};
  }
  Floats values() {
    Floats v(static_cast<std::size_t>(shape_.size()));
    for_each([&](std::int64_t i, float& x) { v[static_cast<std::size_t>(i)] = x; });
    return v;
  }

 private:
  void for_each(const std::function<void(std::int64_t, float&)>& body) {
    std::int64_t i = 0;
    for (std::int64_t n = 0; n < shape_.n; ++n) {
      for (std::int64_t c = 0; c < shape_.c; ++c) {
        for (std::int64_t s = 0; s < shape_.s; ++s) {
          body(i++,
               data_[static_cast<std::size_t>(n * strides_.n + c * strides_.c + s * strides_.s)]);
        }
      }
    }
  }

  Shape shape_;
  Shape strides_{};
  Floats data_;
};

// y and, with dy, the gradients of LayerNorm over plain rows.
struct Plain {
  Floats y, dx, dgamma, dbeta;
};

Plain layer_norm(std::int64_t rows, const Floats& x, const Floats& gamma, const Floats& beta,
                 const Floats& dy, double eps) {
  const std::int64_t cols = std::ssize(x) / rows;
  const auto as_rows = [&](auto& v) { return ConstRows{v.data(), DType::f32, rows, cols, cols}; };
  Plain p{Floats(x.size()), Floats(x.size()), Floats(gamma.size()), Floats(beta.size())};
  Context context;
  LayerNormForward forward{as_rows(x), vector(gamma), vector(beta), eps, {}, {}};
  forward.y = {p.y.data(), DType::f32, rows, cols, cols};
  check(layer_norm_forward(forward, context));
  LayerNormBackward backward{as_rows(dy), as_rows(x), vector(gamma), eps, {}, {}, {}, {}};
  backward.dx = {p.dx.data(), DType::f32, rows, cols, cols};
  backward.dgamma = vector(p.dgamma);
  backward.dbeta = vector(p.dbeta);
  check(layer_norm_backward(backward, context));
  return p;
}

// (n, c, s) values with the axes in another order.
Floats permuted(const Floats& v, Shape shape, const std::string& order) {
  const std::int64_t count[3] = {shape.n, shape.c, shape.s};
  const std::int64_t stride[3] = {shape.c * shape.s, shape.s, 1};
  int axis[3];
  for (int k = 0; k < 3; ++k) axis[k] = static_cast<int>(std::string("ncs").find(order[k]));
  Floats result;
  for (std::int64_t i = 0; i < count[axis[0]]; ++i) {
    for (std::int64_t j = 0; j < count[axis[1]]; ++j) {
      for (std::int64_t k = 0; k < count[axis[2]]; ++k) {
        result.push_back(v[static_cast<std::size_t>(i * stride[axis[0]] + j * stride[axis[1]] +
                                                    k * stride[axis[2]])]);
      }
    }
  }
  return result;
}

struct Results {
  Floats y, dx, dgamma, dbeta;
  bool operator==(const Results&) const = default;
};

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

TEST(HeadNorm, OfAPackedProjectionIsRowNormOfTheCopiedHeads) {
  const std::int64_t tokens = 6, heads = 4, width = 48, packed = 3 * heads * width;
  const Floats qkv = numbers(tokens * packed, 1), dqkv = numbers(tokens * packed, 2);
  const Floats gamma = numbers(width, 3, 1);
  const RowForm rms{.centered = false, .eps = 1e-6};
  Context context;
  for (const std::int64_t part : {0, 1}) {  // q, k
    const std::int64_t first = part * heads * width;
    const auto view = [&](const Floats& v) {
      return ConstHeads{v.data() + first, DType::f32, tokens, heads, width, packed, width};
    };
    Floats y = qkv, dx(qkv.size(), -77), dgamma(gamma.size());
    const Heads in_place{y.data() + first, DType::f32, tokens, heads, width, packed, width};
    check(head_norm_forward({rms, in_place, {gamma.data(), DType::f32, width, 0}, {}, in_place},
                            context));
    const Heads out{dx.data() + first, DType::f32, tokens, heads, width, packed, width};
    check(head_norm_backward({rms,
                              view(dqkv),
                              view(qkv),
                              {gamma.data(), DType::f32, width, 0},
                              out,
                              {dgamma.data(), DType::f32, width, 0},
                              {}},
                             context));
    // Head by head, as the sums over rows run.
    Floats rows, dy_rows, want_y = qkv, want_dx(qkv.size(), -77), want_dgamma(gamma.size());
    const auto for_each = [&](auto body) {
      for (std::int64_t h = 0; h < heads; ++h) {
        for (std::int64_t t = 0; t < tokens; ++t) {
          for (std::int64_t i = 0; i < width; ++i) body(t * packed + first + h * width + i);
        }
      }
    };
    for_each([&](std::int64_t k) { rows.push_back(qkv[k]), dy_rows.push_back(dqkv[k]); });
    Floats y_rows(rows.size()), dx_rows(rows.size());
    const auto as_rows = [&](Floats& v) {
      return Rows{v.data(), DType::f32, heads * tokens, width, width};
    };
    check(row_norm_forward({rms, as_rows(rows), vector(gamma), {}, as_rows(y_rows)}, context));
    check(row_norm_backward({rms,
                             as_rows(dy_rows),
                             as_rows(rows),
                             vector(gamma),
                             as_rows(dx_rows),
                             vector(want_dgamma),
                             {}},
                            context));
    std::size_t i = 0;
    for_each([&](std::int64_t k) { want_y[k] = y_rows[i], want_dx[k] = dx_rows[i++]; });
    EXPECT_EQ(y, want_y);
    EXPECT_EQ(dx, want_dx);
    EXPECT_EQ(dgamma, want_dgamma);
  }
}

TEST(ModulatedNorm, IsOneRowNormPerGroup) {
  const std::int64_t rows = 12, cols = 70;
  const Floats x = numbers(rows * cols, 1, 2), dy = numbers(rows * cols, 2);
  const auto as_rows = [&](auto& v, std::int64_t first, std::int64_t count) {
    return Rows{const_cast<float*>(v.data()) + first * cols, DType::f32, count, cols, cols};
  };
  Context context;
  for (const std::int64_t each : {1, 3, 12}) {
    const std::int64_t groups = rows / each;
    // Shift and scale are slices of one projection.
    const Floats projection = numbers(groups * 2 * cols, 3);
    Floats gradient(projection.size());
    const auto slice = [&](auto& v, int part) {
      return Rows{const_cast<float*>(v.data()) + part * cols, DType::f32, groups, cols, 2 * cols};
    };
    ModulatedNormForward forward;
    forward.x = as_rows(x, 0, rows);
    forward.rows_per_group = each;
    forward.shift = slice(projection, 0);
    forward.scale = slice(projection, 1);
    Floats y(x.size()), dx(x.size());
    forward.y = as_rows(y, 0, rows);
    check(modulated_norm_forward(forward, context));
    ModulatedNormBackward backward;
    backward.dy = as_rows(dy, 0, rows);
    backward.x = forward.x;
    backward.rows_per_group = each;
    backward.scale = forward.scale;
    backward.dx = as_rows(dx, 0, rows);
    backward.dshift = slice(gradient, 0);
    backward.dscale = slice(gradient, 1);
    check(modulated_norm_backward(backward, context));
    Floats want_y(x.size()), want_dx(x.size()), want_gradient(gradient.size());
    for (std::int64_t g = 0; g < groups; ++g) {
      const RowForm form{.gain = Gain::one_plus, .eps = 1e-6};
      const auto parameter = [&](const Floats& v, int part) {
        return Vector{const_cast<float*>(v.data()) + (2 * g + part) * cols, DType::f32, cols};
      };
      check(row_norm_forward({form, as_rows(x, g * each, each), parameter(projection, 1),
                              parameter(projection, 0), as_rows(want_y, g * each, each)},
                             context));
      check(row_norm_backward({form, as_rows(dy, g * each, each), as_rows(x, g * each, each),
                               parameter(projection, 1), as_rows(want_dx, g * each, each),
                               parameter(want_gradient, 1), parameter(want_gradient, 0)},
                              context));
    }
    EXPECT_EQ(y, want_y);
    EXPECT_EQ(dx, want_dx);
    EXPECT_EQ(gradient, want_gradient);
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

TEST(BadArguments, OfFusedNormsAreRefusedBeforeAnythingIsWritten) {
  const std::int64_t rows = 6, cols = 8;
  Floats x = numbers(rows * cols, 1), dy = numbers(rows * cols, 2), out(x.size(), -77);
  Floats gamma = numbers(cols, 3), dgamma(gamma.size(), -77), groups(x.size(), -77);
  std::vector<std::uint8_t> bytes(x.size());
  Floats scale(rows);
  const auto view = [&](Floats& v) { return Rows{v.data(), DType::f32, rows, cols, cols}; };
  Context context;
  const auto expect = [&](const Status& status, const char* argument) {
    EXPECT_EQ(status.code, StatusCode::invalid_argument);
    EXPECT_STREQ(status.argument, argument);
    EXPECT_EQ(out, Floats(out.size(), -77));
    EXPECT_EQ(dgamma, Floats(dgamma.size(), -77));
  };
  FusedNormBackward b;
  b.dy = view(dy);
  b.stream = b.x = view(x);
  b.dresidual = view(out);
  b.parameters.gamma = vector(gamma);
  b.dgate = view(groups);
  expect(fused_norm_backward(b, context), "parameters.gamma");
  b.parameters.gamma = {};
  b.parameters.scale = view(x);
  b.dgate = {};
  b.dgamma = vector(dgamma);
  expect(fused_norm_backward(b, context), "dgamma");
  FusedNormForward f;
  f.x = view(x);
  const auto quantized = [&](std::int64_t stride) {
    f.quantized = {bytes.data(), Quantization::int8_per_row, rows, cols, stride, vector(scale), 0};
    return fused_norm_forward(f, context);
  };
  expect(quantized(std::numeric_limits<std::int64_t>::max() / 2), "quantized.row_stride");
  expect(quantized(std::numeric_limits<std::int64_t>::min()), "quantized.row_stride");
  expect(quantized(cols - 1), "quantized.row_stride");
  BlendedNormBackward blended;
  blended.dy = view(dy);
  blended.x = view(x);
  const float alpha = 0.5f;
  blended.alpha = {&alpha, DType::f32, 1};
  blended.dx = view(out);
  blended.dalpha = {x.data() + 3, DType::f32, 1};
  expect(blended_norm_backward(blended, context), "dalpha");
  Image image({2, 3, 4}, Memory::channels_first, numbers(24, 1)), y({2, 3, 4}, Memory::padded);
  BatchNormForward batch;
  batch.x = image.view();
  batch.y = y.view();
  batch.options.mask = static_cast<const std::uint8_t*>(y.view().data);
  expect(batch_norm_forward(batch, context), "y");
}

}  // namespace
}  // namespace equinorm::test
