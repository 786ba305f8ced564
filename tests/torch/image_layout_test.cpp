// Norms of images where memory, threads, sizes of 0 and broken arguments are concerned: the same
// bits in every layout, inputs that stay as they were, and clear errors.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "equinorm/torch/images.hpp"
#include "image_checks.hpp"

namespace equinorm::tests {
namespace {

namespace eq = ::equinorm::torch;

using NamedNorm = std::pair<const char*, ImageNorm>;

at::Tensor like_sample(const at::Tensor& vector, const at::Tensor& x) {
  return vector.defined() ? vector.view({-1, 1, 1}).expand(x.sizes().slice(1)) : vector;
}

/// For images (samples, 6, height, width); running statistics are Float, or Double for Double x.
std::vector<NamedNorm> norms(at::ScalarType type) {
  const auto wide = type == at::kDouble ? at::kDouble : at::kFloat;
  const auto mean = normal({6}, wide, 201);
  const auto variance = normal({6}, wide, 202).abs() + 0.1;
  return {
      {"group",
       [](const auto& x, const auto& w, const auto& b) { return eq::group_norm(x, 3, w, b); }},
      {"instance",
       [=](const auto& x, const auto& w, const auto& b) {
         return eq::instance_norm(x, mean.clone(), variance.clone(), w, b);
       }},
      {"batch",
       [=](const auto& x, const auto& w, const auto& b) {
         return eq::batch_norm(x, mean.clone(), variance.clone(), w, b, true);
       }},
      {"batch outside training",
       [=](const auto& x, const auto& w, const auto& b) {
         return eq::batch_norm(x, mean, variance, w, b);
       }},
      {"layer_norm_2d",
       [](const auto& x, const auto& w, const auto& b) { return eq::layer_norm_2d(x, w, b); }},
      {"layer_norm_chw",
       [](const auto& x, const auto& w, const auto& b) {
         return eq::layer_norm_chw(x, like_sample(w, x), like_sample(b, x));
       }},
  };
}

TEST(ImageLayout, EveryLayoutGivesTheBitsOfTheContiguousOne) {
  for (const auto type : all_types()) {
    const Affine a(3, 6, type);
    const auto x = normal({3, 6, 5, 7}, type, 203, 0.5);
    const auto dy = normal({3, 6, 5, 7}, type, 204);
    for (const auto& [name, norm] : norms(type)) {
      const auto want = outcome_of(norm, x, a.weight, a.bias, dy);
      for (const auto& [layout, view] : layouts_of(x)) {
        SCOPED_TRACE(::testing::Message() << type << " " << name << ", x " << layout);
        expect_same_bits(outcome_of(norm, view, a.weight, a.bias, dy), want);
      }
      for (const auto& [layout, view] : layouts_of(dy)) {
        SCOPED_TRACE(::testing::Message() << type << " " << name << ", dy " << layout);
        expect_same_bits(outcome_of(norm, x, a.weight, a.bias, view), want);
      }
    }
  }
}

TEST(ImageLayout, ResultsHaveTheMemoryFormatOfTheInput) {
  const auto x = normal({3, 6, 5, 7}, at::kFloat, 205);
  const auto last = at::MemoryFormat::ChannelsLast;
  for (const auto& [name, norm] : norms(at::kFloat)) {
    const auto dy = normal({3, 6, 5, 7}, at::kFloat, 206);
    const auto plain = outcome_of(norm, x, {}, {}, dy.contiguous(last));
    EXPECT_TRUE(plain.y.is_contiguous() && plain.dx.is_contiguous()) << name;
    for (const auto& [layout, view] : layouts_of(x)) {
      if (layout.find("last") == std::string::npos) continue;
      const auto out = outcome_of(norm, view, {}, {}, dy);
      EXPECT_TRUE(out.y.is_contiguous(last) && out.dx.is_contiguous(last)) << name << layout;
    }
  }
}

TEST(ImageLayout, OnlyPositionsWithoutOneStepAreCopied) {
  const auto x = normal({3, 6, 5, 7}, at::kFloat, 207);
  for (const auto& [layout, view] : layouts_of(x)) {
    const bool copied = layout == "some columns" || layout == "height and width exchanged";
    EXPECT_EQ(eq::detail::ImageView(view).images().data != view.const_data_ptr(), copied) << layout;
  }
}

TEST(ImageLayout, AnExpandedGradientWorks) {
  const auto x = normal({3, 6, 5, 7}, at::kFloat, 208);
  for (const auto& [name, norm] : norms(at::kFloat)) {
    const auto one = at::ones({}, at::kFloat).expand(x.sizes());  // strides of 0
    expect_same_bits(outcome_of(norm, x, {}, {}, one),
                     outcome_of(norm, x, {}, {}, one.contiguous()));
  }
}

TEST(ImageLayout, NoCallChangesItsInputs) {
  for (const auto type : all_types()) {
    const Affine a(3, 6, type);
    const auto x = normal({3, 6, 5, 7}, type, 209);
    const auto dy = normal({3, 6, 5, 7}, type, 210);
    const std::vector<at::Tensor> inputs = {x, dy, a.weight, a.bias};
    std::vector<at::Tensor> before;
    for (const auto& t : inputs) before.push_back(t.clone());
    for (const auto& [name, norm] : norms(type)) outcome_of(norm, x, a.weight, a.bias, dy);
    for (std::size_t i = 0; i < inputs.size(); ++i) EXPECT_TRUE(same_bits(inputs[i], before[i]));
  }
}

TEST(ImageLayout, TheNumberOfThreadsDoesNotChangeABit) {
  const int threads = at::get_num_threads();
  const auto x = normal({16, 6, 33, 31}, at::kFloat, 211, 1);
  const auto dy = normal({16, 6, 33, 31}, at::kFloat, 212);
  const Affine a(3, 6, at::kFloat);
  for (const auto& [name, norm] : norms(at::kFloat)) {
    at::set_num_threads(1);
    const auto want = outcome_of(norm, x, a.weight, a.bias, dy);
    for (const int n : {2, 3}) {
      at::set_num_threads(n);
      SCOPED_TRACE(::testing::Message() << name << " " << n);
      expect_same_bits(outcome_of(norm, x, a.weight, a.bias, dy), want);
    }
  }
  at::set_num_threads(threads);
}

TEST(ImageLayout, TheBatchAroundASampleDoesNotChangeItsBits) {
  const auto x = normal({65, 6, 5, 7}, at::kFloat, 215);
  for (const auto& [name, norm] : norms(at::kFloat)) {
    if (std::string(name) == "batch") continue;  // the one that looks at other samples
    const auto all = norm(x, {}, {});
    for (const std::int64_t i : {0, 31, 64}) {
      EXPECT_TRUE(same_bits(norm(x.narrow(0, i, 1), {}, {}), all.narrow(0, i, 1))) << name << i;
    }
  }
}

TEST(ImageLayout, AValueThatIsNotFiniteStaysAmongThoseItIsAveragedWith) {
  const auto x = normal({3, 6, 5, 7}, at::kFloat, 216);
  const std::vector<double> broken = {std::numeric_limits<double>::quiet_NaN(),
                                      std::numeric_limits<double>::infinity()};
  for (const auto& [name, norm] : norms(at::kFloat)) {
    const auto want = norm(x, {}, {});
    const std::string which = name;
    if (which == "batch outside training") continue;  // it averages nothing
    const auto touched = [&](const at::Tensor& t) {
      const auto bad = t.isfinite().logical_not();
      if (which == "group") return bad.view({3, 3, -1}).any(2, true).expand({3, 3, 70});
      if (which == "instance") return bad.flatten(2).any(2, true).expand({3, 6, 35});
      if (which == "batch") return bad.any(3, true).any(2, true).any(0, true).expand_as(t);
      if (which == "layer_norm_2d") return bad.any(1, true).expand_as(t);
      return bad.flatten(1).any(1, true).expand({3, 210});
    };
    for (const double value : broken) {
      auto spoilt = x.clone();
      spoilt[1][2][3][4] = value;
      const auto got = norm(spoilt, {}, {});
      const auto nan = touched(spoilt).reshape(x.sizes());
      EXPECT_TRUE(same_bits(got.index({nan.logical_not()}), want.index({nan.logical_not()})))
          << name << value;
      EXPECT_TRUE(got.index({nan}).isfinite().logical_not().all().item<bool>()) << name << value;
    }
  }
}

TEST(ImageLayout, EmptyAxesGiveEmptyResultsAndZeroGradients) {
  for (const auto type : all_types()) {
    for (const Sizes& sizes : std::vector<Sizes>{{0, 6, 4, 4}, {3, 6, 0, 4}, {3, 6, 4, 0}}) {
      const auto x = at::zeros(sizes, type);
      const Affine a(3, 6, type);
      for (const auto& [name, norm] : norms(type)) {
        if (std::string(name) == "layer_norm_chw") continue;  // below: its parameters are empty too
        const auto out = outcome_of(norm, x, a.weight, a.bias, x);
        EXPECT_TRUE(same_bits(out.y, x)) << name << x.sizes();
        EXPECT_TRUE(same_bits(out.dx, x)) << name << x.sizes();
        EXPECT_TRUE(same_bits(out.dweight, at::zeros({6}, type))) << name << x.sizes();
        EXPECT_TRUE(same_bits(out.dbias, at::zeros({6}, type))) << name << x.sizes();
      }
      const auto sample = at::ones(x.sizes().slice(1), type);
      const ImageNorm chw = [](const auto& t, const auto& w, const auto& b) {
        return eq::layer_norm_chw(t, w, b);
      };
      const auto out = outcome_of(chw, x, sample, sample, x);
      EXPECT_TRUE(same_bits(out.y, x));
      EXPECT_TRUE(same_bits(out.dweight, at::zeros_like(sample)));
    }
  }
  const auto none = at::zeros({3, 0, 4, 4});
  EXPECT_TRUE(same_bits(eq::group_norm(none, 1), none));
  EXPECT_TRUE(same_bits(eq::batch_norm(none, {}, {}, {}, {}, true), none));
  EXPECT_TRUE(same_bits(eq::instance_norm(none, at::ones({0}), at::ones({0})), none));
}

TEST(ImageLayout, AnEmptyBatchLeavesTheRunningStatisticsAlone) {
  for (const Sizes& sizes : std::vector<Sizes>{{0, 6, 4}, {3, 6, 0}}) {
    const auto mean = normal({6}, at::kFloat, 213);
    const auto variance = normal({6}, at::kFloat, 214);
    const auto mean_before = mean.clone();
    const auto variance_before = variance.clone();
    eq::batch_norm(at::zeros(sizes), mean, variance, {}, {}, true);
    eq::instance_norm(at::zeros(sizes), mean, variance);
    EXPECT_TRUE(same_bits(mean, mean_before));
    EXPECT_TRUE(same_bits(variance, variance_before));
  }
}

TEST(ImageLayout, OtherDevicesGoThroughElementaryOperators) {
  const auto x = at::zeros({3, 6, 5, 7}, at::TensorOptions().device(at::kMeta));
  const auto vector = at::zeros({6}, x.options());
  for (const auto& y :
       {eq::group_norm(x, 3, vector), eq::instance_norm(x, vector, vector, vector, vector),
        eq::batch_norm(x, vector, vector, vector, vector, true), eq::batch_norm(x, vector, vector),
        eq::layer_norm_2d(x, vector), eq::layer_norm_chw(x)}) {
    EXPECT_EQ(y.sizes(), x.sizes());
    EXPECT_TRUE(y.is_meta());
  }
}

template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "no error";
}

TEST(ImageLayout, BrokenArgumentsAreNamedWithValueAndRule) {
  const auto x = at::ones({2, 6, 4});
  const auto six = at::ones({6});
  const std::vector<std::pair<std::string, std::string>> errors = {
      {error_of([&] { eq::group_norm(x, 4); }), "group_norm: num_groups = 4: must be at least 1"},
      {error_of([&] { eq::group_norm(x, 0); }), "group_norm: num_groups = 0"},
      {error_of([&] { eq::group_norm(x, 2, at::ones({3})); }),
       "group_norm: weight.shape = [3]: must equal x's channels = [6]"},
      {error_of([&] { eq::group_norm(x, 2, six.to(at::kDouble)); }),
       "group_norm: weight.dtype = Double: needs x.dtype = Double"},
      {error_of([&] { eq::group_norm(x.to(at::kInt), 2); }), "group_norm: x.dtype = Int"},
      {error_of([&] { eq::group_norm(at::ones({6}), 2); }),
       "group_norm: x.shape = [6]: must be (samples, channels, ...)"},
      {error_of([&] { eq::group_norm({}, 2); }), "group_norm: x is undefined"},
      {error_of([&] { eq::layer_norm_2d(x, six, six, -1); }), "layer_norm_2d: eps = -1"},
      {error_of([&] { eq::layer_norm_chw(x, six); }),
       "layer_norm_chw: weight.shape = [6]: must equal a sample of x = [6, 4]"},
      {error_of([&] { eq::batch_norm(x, {}, {}); }), "batch_norm: running_mean is undefined"},
      {error_of([&] { eq::batch_norm(x, six, {}, {}, {}, true); }),
       "batch_norm: running_var is undefined"},
      {error_of([&] { eq::batch_norm(x, six, six, {}, {}, false, 2); }),
       "batch_norm: momentum = 2: must be at least 0 and at most 1"},
      {error_of([&] { eq::batch_norm(x, six, six, {}, {}, true); }), "overlap"},
      {error_of([&] { eq::instance_norm(x, {}, {}, {}, {}, false); }),
       "instance_norm: running_mean is undefined"},
      {error_of([&] { eq::instance_norm(x, six, at::ones({2})); }),
       "instance_norm: running_var.shape = [2]"},
  };
  for (const auto& [error, part] : errors) {
    EXPECT_NE(error.find(part), std::string::npos) << error << "\nwithout: " << part;
  }
}

}  // namespace
}  // namespace equinorm::tests
