// Norms of attention heads where they lie, and adaLN's modulation, against PyTorch's operators in
// double and against the contiguous copy in bits.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <string>
#include <vector>

#include "equinorm/torch/attention.hpp"
#include "equinorm/torch/functional.hpp"
#include "image_checks.hpp"

namespace equinorm::tests {
namespace {

namespace eq = ::equinorm::torch;

constexpr RowForm kRms = {.centered = false, .eps = 1e-5};
constexpr RowForm kLength = {
    .centered = false, .spread = Spread::length, .gain = Gain::none, .eps = 0};

/// q, k and v of two samples, five tokens and four heads of width eight.
struct Packed {
  at::Tensor memory;
  explicit Packed(at::ScalarType type) : memory(normal({2, 5, 3 * 4 * 8}, type, 601, 0.3)) {}
  [[nodiscard]] at::Tensor part(std::int64_t i) const {
    return memory.view({2, 5, 3, 4, 8}).select(2, i);
  }
};

TEST(HeadNorm, IsTheNormOfEachHead) {
  const auto x = Packed(at::kDouble).part(0);
  const auto dy = normal(x.sizes(), at::kDouble, 602);
  for (const Sizes& sizes : {Sizes{8}, Sizes{4, 8}}) {
    const auto gamma = normal(sizes, at::kDouble, 603, 1, 0.5);
    const auto beta = normal(sizes, at::kDouble, 604);
    const ImageNorm layer = [](const auto& t, const auto& w, const auto& b) {
      return eq::head_norm(t, {}, w, b);
    };
    const ImageNorm layer_of_pytorch = [](const auto& t, const auto& w, const auto& b) {
      return at::layer_norm(t, {8}) * w + b;
    };
    expect_close(outcome_of(layer, x, gamma, beta, dy),
                 outcome_of(layer_of_pytorch, x, gamma, beta, dy));
    const ImageNorm rms = [](const auto& t, const auto& w, const auto&) {
      return eq::head_norm(t, kRms, w);
    };
    const ImageNorm rms_of_pytorch = [](const auto& t, const auto& w, const auto&) {
      return at::rms_norm(t, {8}, {}, 1e-5) * w;
    };
    expect_close(outcome_of(rms, x, gamma, {}, dy), outcome_of(rms_of_pytorch, x, gamma, {}, dy));
  }
  const ImageNorm length = [](const auto& t, const auto&, const auto&) {
    return eq::head_norm(t, kLength);
  };
  const ImageNorm length_of_pytorch = [](const auto& t, const auto&, const auto&) {
    return t / t.norm(2, {-1}, true);
  };
  expect_close(outcome_of(length, x, {}, {}, dy), outcome_of(length_of_pytorch, x, {}, {}, dy));
}

TEST(HeadNorm, ViewsOfAPackedProjectionAreReadInPlaceWithTheBitsOfACopy) {
  for (const auto type : all_types()) {
    const Packed packed(type);
    const auto before = packed.memory.clone();
    const auto gamma = normal({4, 8}, type, 605, 1, 0.5);
    const auto dy = normal({2, 5, 4, 8}, type, 606);
    const ImageNorm norm = [](const auto& t, const auto& w, const auto&) {
      return eq::head_norm(t, kRms, w);
    };
    for (const int part : {0, 1, 2}) {
      const auto x = packed.part(part);
      EXPECT_EQ(eq::detail::HeadView(x).heads().data, x.const_data_ptr());
      expect_same_bits(outcome_of(norm, x, gamma, {}, dy),
                       outcome_of(norm, x.contiguous(), gamma, {}, dy));
      // A gradient that is a view too, and one without memory of its own.
      expect_same_bits(outcome_of(norm, x, gamma, {}, packed.part(2 - part)),
                       outcome_of(norm, x, gamma, {}, packed.part(2 - part).contiguous()));
      const auto one = at::ones({}, type).expand(x.sizes());
      expect_same_bits(outcome_of(norm, x, gamma, {}, one),
                       outcome_of(norm, x, gamma, {}, one.contiguous()));
    }
    const auto across = packed.part(0).transpose(0, 1);  // no one step from token to token
    expect_same_bits(outcome_of(norm, across, gamma, {}, dy.transpose(0, 1)),
                     outcome_of(norm, across.contiguous(), gamma, {}, dy.transpose(0, 1)));
    EXPECT_TRUE(same_bits(packed.memory, before));
  }
}

TEST(HeadNorm, TheGradientReachesThePackedProjection) {
  const auto memory = leaf(Packed(at::kDouble).memory);
  const auto parts = memory.view({2, 5, 3, 4, 8});
  const auto [q, k] = eq::qk_norm(parts.select(2, 0), parts.select(2, 1), kRms);
  const auto want_q = at::rms_norm(parts.select(2, 0), {8}, {}, 1e-5);
  const auto want_k = at::rms_norm(parts.select(2, 1), {8}, {}, 1e-5);
  const auto dy = normal(q.sizes(), at::kDouble, 607);
  const auto got = ::torch::autograd::grad({q, k}, {memory}, {dy, dy * 2});
  const auto want = ::torch::autograd::grad({want_q, want_k}, {memory}, {dy, dy * 2});
  expect_close(got[0], want[0], "gradient");
}

TEST(HeadNorm, AScalarGainMayBelongToAHead) {
  const auto x = Packed(at::kDouble).part(1);
  RowForm form = kLength;
  form.gain = Gain::scalar;
  const auto dy = normal(x.sizes(), at::kDouble, 608);
  const ImageNorm ours = [&](const auto& t, const auto& w, const auto&) {
    return eq::head_norm(t, form, w);
  };
  const ImageNorm theirs = [](const auto& t, const auto& w, const auto&) {
    return t / t.norm(2, {-1}, true) * w;
  };
  for (const Sizes& sizes : {Sizes{1}, Sizes{4, 1}}) {
    const auto gain = normal(sizes, at::kDouble, 609, 1, 0.5);
    expect_close(outcome_of(ours, x, gain, {}, dy), outcome_of(theirs, x, gain, {}, dy));
  }
}

/// Scale and shift as chunks of one projection, of samples or of tokens.
struct Modulation {
  at::Tensor shift, scale;
  Modulation(at::IntArrayRef leading, at::ScalarType type) {
    auto sizes = leading.vec();
    sizes.push_back(6 * 8);
    const auto projection = normal(sizes, type, 610);
    shift = projection.narrow(-1, 8, 8);
    scale = projection.narrow(-1, 24, 8);
  }
};

TEST(ModulatedNorm, IsTheFormulaForSamplesAndForTokens) {
  const auto x = normal({3, 5, 8}, at::kDouble, 611, 0.4);
  const auto dy = normal({3, 5, 8}, at::kDouble, 612);
  const auto norm_of = [](const RowForm& form) -> ImageNorm {
    return [form](const auto& t, const auto& scale, const auto& shift) {
      return eq::modulated_norm(t, shift, scale, form);
    };
  };
  const auto plain_of = [](const RowForm& form) -> ImageNorm {
    return [form](const auto& t, const auto& scale, const auto& shift) {
      const auto wide = [&](const at::Tensor& v) { return v.dim() == 2 ? v.unsqueeze(1) : v; };
      auto y = form.centered ? at::layer_norm(t, {8}, {}, {}, form.eps)
                             : at::rms_norm(t, {8}, {}, form.eps);
      if (scale.defined()) y = y * (1 + wide(scale));
      return shift.defined() ? y + wide(shift) : y;
    };
  };
  for (const Sizes& leading : {Sizes{3}, Sizes{3, 5}}) {
    const Modulation m(leading, at::kDouble);
    for (const auto& form : {RowForm{.gain = Gain::none, .eps = 1e-6}, kRms}) {
      const auto ours = norm_of(form);
      const auto theirs = plain_of(form);
      expect_close(outcome_of(ours, x, m.scale, m.shift, dy),
                   outcome_of(theirs, x, m.scale, m.shift, dy));
      expect_close(outcome_of(ours, x, m.scale, {}, dy), outcome_of(theirs, x, m.scale, {}, dy));
      expect_close(outcome_of(ours, x, {}, m.shift, dy), outcome_of(theirs, x, {}, m.shift, dy));
      expect_close(outcome_of(ours, x, {}, {}, dy), outcome_of(theirs, x, {}, {}, dy));
    }
  }
}

TEST(ModulatedNorm, ChunksExpandedRowsAndCopiesGiveTheSameBits) {
  for (const auto type : all_types()) {
    const auto x = normal({3, 5, 8}, type, 613);
    const auto dy = normal({3, 5, 8}, type, 614);
    const ImageNorm norm = [](const auto& t, const auto& scale, const auto& shift) {
      return eq::modulated_norm(t, shift, scale);
    };
    const Modulation m({3}, type);
    const auto want = outcome_of(norm, x, m.scale.contiguous(), m.shift.contiguous(), dy);
    expect_same_bits(outcome_of(norm, x, m.scale, m.shift, dy), want);
    const auto per_token = [](const at::Tensor& t) { return t.unsqueeze(1).expand({3, 5, 8}); };
    EXPECT_TRUE(same_bits(norm(x, per_token(m.scale), per_token(m.shift)), want.y));
    EXPECT_TRUE(same_bits(norm(x.flatten(0, 1), per_token(m.scale).reshape({15, 8}),
                               per_token(m.shift).reshape({15, 8})),
                          want.y.flatten(0, 1)));
    const auto one = at::ones({1, 8}, type).expand({3, 8});
    expect_same_bits(outcome_of(norm, x, one, one, dy),
                     outcome_of(norm, x, one.contiguous(), one.contiguous(), dy));
  }
}

TEST(Attention, EmptyAxesGiveEmptyResultsAndZeroGradients) {
  const ImageNorm heads = [](const auto& t, const auto& w, const auto& b) {
    return eq::head_norm(t, {}, w, b);
  };
  const ImageNorm modulated = [](const auto& t, const auto& scale, const auto& shift) {
    return eq::modulated_norm(t, shift, scale);
  };
  for (const Sizes& sizes : std::vector<Sizes>{{0, 5, 4, 8}, {2, 0, 4, 8}, {2, 5, 4, 0}}) {
    const auto x = at::zeros(sizes);
    const auto gamma = at::ones({4, sizes[3]});
    const auto out = outcome_of(heads, x, gamma, gamma, x);
    EXPECT_TRUE(same_bits(out.y, x));
    EXPECT_TRUE(same_bits(out.dweight, at::zeros_like(gamma)));
    const auto rows = at::zeros({sizes[0], sizes[1], sizes[3]});
    const auto scale = at::ones({sizes[0], sizes[3]});
    const auto adapted = outcome_of(modulated, rows, scale, scale, rows);
    EXPECT_TRUE(same_bits(adapted.y, rows));
    EXPECT_TRUE(same_bits(adapted.dweight, at::zeros_like(scale)));
    EXPECT_TRUE(same_bits(adapted.dbias, at::zeros_like(scale)));
  }
}

TEST(Attention, RefusesWhatDoesNotFit) {
  const auto x = at::ones({2, 5, 4, 8});
  EXPECT_THROW(eq::head_norm(at::ones({8}), {}), c10::Error);
  EXPECT_THROW(eq::head_norm(x, {}, at::ones({5, 8})), c10::Error);
  EXPECT_THROW(eq::head_norm(x, {}, at::ones({4})), c10::Error);
  EXPECT_THROW(eq::head_norm(x, kLength, at::ones({8})), c10::Error);
  EXPECT_THROW(eq::head_norm(x, {.eps = -1}), c10::Error);
  const auto rows = at::ones({2, 5, 8});
  EXPECT_THROW(eq::modulated_norm(rows, at::ones({2, 8}), at::ones({2, 5, 8})), c10::Error);
  EXPECT_THROW(eq::modulated_norm(rows, at::ones({5, 8}), at::ones({5, 8})), c10::Error);
  EXPECT_THROW(eq::modulated_norm(rows, {}, at::ones({8})), c10::Error);
  EXPECT_THROW(eq::modulated_norm(at::ones({8}), {}, {}), c10::Error);
}

}  // namespace
}  // namespace equinorm::tests
