// Norms of images in the narrow types: results and gradients within the bounds of docs/numerics.md,
// section 6, of the exact ones, a row being what is averaged; ordinary and badly offset data.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>
#include <vector>

#include "equinorm/torch/images.hpp"
#include "image_checks.hpp"

namespace equinorm::tests {
namespace {

namespace eq = ::equinorm::torch;

constexpr double kYBound = 3;
constexpr double kDxBound = 4;
constexpr double kDgammaBound = 8;
constexpr double kDbetaBound = 4;
constexpr double kEps = 1e-5;

/// What a norm averages, as the rows of a matrix, and that matrix as images again.
struct Rows {
  const char* name;
  ImageNorm norm;
  std::function<at::Tensor(const at::Tensor&)> of;
};

at::Tensor by_group(const at::Tensor& t, std::int64_t groups) {
  return t.reshape({t.size(0) * groups, t.numel() / (t.size(0) * groups)});
}

const std::vector<Rows>& norms() {
  static const std::vector<Rows> all = {
      {"group",
       [](const auto& x, const auto& w, const auto& b) { return eq::group_norm(x, 3, w, b); },
       [](const at::Tensor& t) { return by_group(t, 3); }},
      {"instance",
       [](const auto& x, const auto& w, const auto& b) {
         return eq::instance_norm(x, {}, {}, w, b);
       },
       [](const at::Tensor& t) { return by_group(t, t.size(1)); }},
      {"batch",
       [](const auto& x, const auto& w, const auto& b) {
         return eq::batch_norm(x, {}, {}, w, b, true);
       },
       [](const at::Tensor& t) { return t.transpose(0, 1).flatten(1); }},
      {"layer_norm_2d",
       [](const auto& x, const auto& w, const auto& b) { return eq::layer_norm_2d(x, w, b, kEps); },
       [](const at::Tensor& t) { return t.movedim(1, -1).flatten(0, -2); }},
  };
  return all;
}

/// Exact results, laid out as rows; and the scales of the errors, one per row or channel.
struct Truth2d {
  at::Tensor y, dx, dgamma, dbeta;
  at::Tensor y_scale, dx_scale, dgamma_scale, dbeta_scale;
};

Truth2d truth_of(const Rows& rows, const at::Tensor& x, const Affine& a, const at::Tensor& dy) {
  const auto wide = [&](const at::Tensor& t) { return t.to(at::kDouble); };
  const auto beside = [&](const at::Tensor& t) { return wide(t).view({1, -1, 1, 1}).expand_as(x); };
  const auto r = rows.of(wide(x));
  const auto gain = rows.of(beside(a.weight));
  const auto shift = rows.of(beside(a.bias));
  const auto d = rows.of(wide(dy));
  const auto centred = r - r.mean(1, true);
  const auto rstd = (centred.square().mean(1, true) + kEps).rsqrt();
  const auto xhat = centred * rstd;
  const auto g = d * gain;
  Truth2d t;
  t.y = xhat * gain + shift;
  t.dx = rstd * (g - g.mean(1, true) - xhat * (g * xhat).mean(1, true));
  t.y_scale = xhat.abs().amax(1) * gain.abs().amax(1) + shift.abs().amax(1);
  t.dx_scale =
      (rstd * (g.abs() + g.abs().mean(1, true) + xhat.abs() * (g * xhat).abs().mean(1, true)))
          .amax(1);
  // The matrix of channel numbers puts elements of rows back to their channels.
  const auto channel = rows.of(at::arange(x.size(1)).view({1, -1, 1, 1}).expand_as(x)).flatten();
  const auto sum = [&](const at::Tensor& terms) {
    return at::zeros({x.size(1)}, at::kDouble).index_add(0, channel, terms.flatten());
  };
  t.dgamma = sum(d * xhat);
  t.dbeta = sum(d);
  t.dgamma_scale = sum(d.abs() * (xhat.abs() + 1));
  t.dbeta_scale = sum(d.abs());
  return t;
}

void expect_within_bounds(const at::Tensor& x, const at::Tensor& dy) {
  const Affine a(3, x.size(1), x.scalar_type());
  for (const auto& rows : norms()) {
    SCOPED_TRACE(::testing::Message() << rows.name << " " << x.toString() << x.sizes());
    const auto got = outcome_of(rows.norm, x, a.weight, a.bias, dy);
    const auto want = truth_of(rows, x, a, dy);
    const auto ulps = [&](const at::Tensor& t, const at::Tensor& exact, const at::Tensor& scale) {
      return scale_ulps(t, numbers(exact), numbers(scale));
    };
    EXPECT_LE(ulps(rows.of(got.y), want.y, want.y_scale), kYBound);
    EXPECT_LE(ulps(rows.of(got.dx), want.dx, want.dx_scale), kDxBound);
    EXPECT_LE(ulps(got.dweight, want.dgamma, want.dgamma_scale), kDgammaBound);
    EXPECT_LE(ulps(got.dbias, want.dbeta, want.dbeta_scale), kDbetaBound);
  }
}

class ImageBounds : public ::testing::TestWithParam<at::ScalarType> {};

TEST_P(ImageBounds, HoldForOrdinaryData) {
  for (const Sizes& sizes : std::vector<Sizes>{{4, 6, 5, 7}, {33, 12, 4, 4}, {2, 9, 65, 31}}) {
    expect_within_bounds(normal(sizes, GetParam(), 301, 0.5), normal(sizes, GetParam(), 302, 0.3));
  }
}

TEST_P(ImageBounds, HoldFarFromZeroInChannelsLast) {
  const auto last = at::MemoryFormat::ChannelsLast;
  for (const double mean : {100.0, 1e4}) {
    const auto x = normal({4, 12, 16, 16}, GetParam(), 303, mean).contiguous(last);
    expect_within_bounds(x, normal({4, 12, 16, 16}, GetParam(), 304));
  }
}

TEST_P(ImageBounds, AConstantChannelGivesExactlyBeta) {
  const auto type = GetParam();
  for (const double constant : {1.0, -3.3, 1234.567, 1e5, 1e10}) {
    if (type == at::kHalf && constant > 6e4) continue;
    for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
      auto x = normal({3, 6, 5, 7}, type, 305).contiguous(format);
      x.select(1, 2).fill_(constant);
      const Affine a(3, 6, type);
      const auto want = a.bias[2].expand({3, 5, 7});
      EXPECT_TRUE(same_bits(eq::batch_norm(x, {}, {}, a.weight, a.bias, true).select(1, 2), want))
          << constant;
      EXPECT_TRUE(same_bits(eq::group_norm(x, 6, a.weight, a.bias).select(1, 2), want));
      EXPECT_TRUE(same_bits(eq::instance_norm(x, {}, {}, a.weight, a.bias).select(1, 2), want));
      x.fill_(constant);
      EXPECT_TRUE(same_bits(eq::group_norm(x, 2, a.weight, a.bias).select(1, 2), want));
    }
  }
}

TEST_P(ImageBounds, HoldForGivenStatistics) {
  const auto type = GetParam();
  const auto x = normal({4, 6, 5, 7}, type, 306, 3);
  const auto dy = normal({4, 6, 5, 7}, type, 307);
  const Affine a(3, 6, type);
  const auto mean = normal({6}, at::kFloat, 308);
  const auto variance = normal({6}, at::kFloat, 309).abs() + 0.1;
  const ImageNorm norm = [&](const auto& t, const auto& w, const auto& b) {
    return eq::batch_norm(t, mean, variance, w, b);
  };
  const auto got = outcome_of(norm, x, a.weight, a.bias, dy);
  const auto rows = [](const at::Tensor& t) { return t.transpose(0, 1).flatten(1); };
  const auto column = [](const at::Tensor& t) { return t.to(at::kDouble).view({-1, 1}); };
  const auto rstd = (column(variance) + kEps).rsqrt();
  const auto xhat = (rows(x.to(at::kDouble)) - column(mean)) * rstd;
  const auto d = rows(dy.to(at::kDouble));
  const auto y = xhat * column(a.weight) + column(a.bias);
  const auto dx = d * column(a.weight) * rstd;
  const auto y_scale =
      xhat.abs().amax(1) * column(a.weight).abs().squeeze(1) + column(a.bias).abs().squeeze(1);
  EXPECT_LE(scale_ulps(rows(got.y), numbers(y), numbers(y_scale)), kYBound);
  EXPECT_LE(scale_ulps(rows(got.dx), numbers(dx), numbers(dx.abs().amax(1))), kDxBound);
  EXPECT_LE(scale_ulps(got.dweight, numbers((d * xhat).sum(1)),
                       numbers((d.abs() * (xhat.abs() + 1)).sum(1))),
            kDgammaBound);
}

TEST_P(ImageBounds, ABiasGradientOfOnesCountsTheElements) {
  const auto x = normal({50, 6, 10, 11}, GetParam(), 310);
  const auto one = at::ones_like(x);
  const auto want = at::full({6}, 50 * 10 * 11, at::kDouble).to(GetParam());
  for (const auto& rows : norms()) {
    const Affine a(3, 6, GetParam());
    EXPECT_TRUE(same_bits(outcome_of(rows.norm, x, a.weight, a.bias, one).dbias, want))
        << rows.name;
  }
}

TEST_P(ImageBounds, FloatParametersOfNarrowImagesCountInFull) {
  const auto type = GetParam();
  const auto x = normal({4, 6, 5, 7}, type, 311);
  const auto dy = normal({4, 6, 5, 7}, type, 312);
  const Affine a(3, 6, at::kFloat);
  for (const auto& rows : norms()) {
    const auto got = outcome_of(rows.norm, x, a.weight, a.bias, dy);
    const auto wide = outcome_of(rows.norm, x.to(at::kFloat), a.weight, a.bias, dy.to(at::kFloat));
    EXPECT_TRUE(same_bits(got.y, wide.y.to(type))) << rows.name;
    EXPECT_TRUE(same_bits(got.dx, wide.dx.to(type))) << rows.name;
    EXPECT_TRUE(same_bits(got.dweight, wide.dweight)) << rows.name;
    EXPECT_TRUE(same_bits(got.dbias, wide.dbias)) << rows.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ImageBounds,
                         ::testing::Values(at::kFloat, at::kHalf, at::kBFloat16),
                         [](const auto& type) { return std::string(at::toString(type.param)); });

}  // namespace
}  // namespace equinorm::tests
