// Norms of heads and modulated rows against row norms of the same rows, and what fused, blended and
// batch norms refuse.
//
// Bits and bounds are in tests/conformance.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "image.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace equinorm::test {
namespace {

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

TEST(NoElements, NeedNoWorkspaceAndWriteNoGradientOfAnotherGroup) {
  std::vector<std::uint16_t> bf16(4000, 0x3f80);
  Floats none(8), untouched(512, -77);
  {
    Context context;
    const ConstVector gamma{bf16.data(), DType::bf16, 4000};
    const Images x{none.data(), DType::f32, 2, 4000, 0, 0, 0, 1};
    check(group_norm_forward({x, 1, gamma, gamma, 1e-5, x}, context));
    check(row_norm_forward({{.gain = Gain::scalar},
                            {none.data(), DType::f32, 3, 0, 0},
                            {bf16.data(), DType::bf16, 1},
                            {},
                            {none.data(), DType::f32, 3, 0, 0}},
                           context));
  }
  Context context;
  ModulatedNormBackward b;
  b.dy = b.x = {none.data(), DType::f32, 0, 500, 500};
  b.dscale = {untouched.data(), DType::f32, 0, 500, 500};
  check(modulated_norm_backward(b, context));
  const Images empty{none.data(), DType::f32, 3, 0, 4, 0, 4, 1};
  BatchNormBackward batch{empty, empty, {}, {}, {}, {}, {}, {untouched.data(), DType::f32, 0}, {}};
  check(batch_norm_backward(batch, context));
  EXPECT_EQ(untouched, Floats(untouched.size(), -77));
}

TEST(Quantization, HoldsItsBoundForSubnormalRowsAndRefusesScalesThatVanish) {
  Context context;
  for (const float largest : {60 * 0x1p-149f, 190 * 0x1p-149f, 600 * 0x1p-149f, 0x1p-120f}) {
    const Floats x = {largest, -largest / 2, 0};
    std::vector<std::uint8_t> bytes(3);
    float scale = -1;
    FusedNormForward f;
    f.form = {.centered = false, .gain = Gain::none, .eps = 1};
    f.x = {x.data(), DType::f32, 1, 3, 3};
    f.quantized = {bytes.data(), Quantization::int8_per_row, 1, 3, 3, {&scale, DType::f32, 1}, 0};
    check(fused_norm_forward(f, context));
    for (std::size_t i = 0; i < 3; ++i) {
      const double back = static_cast<std::int8_t>(bytes[i]) * double(scale);
      EXPECT_LE(std::abs(back - x[i]), 0.51 * scale) << largest;
    }
    f.quantized.kind = Quantization::int8_fixed;
    f.quantized.fixed_scale = 1e-46;
    EXPECT_STREQ(fused_norm_forward(f, context).argument, "quantized.fixed_scale");
  }
}

TEST(Environment, OfTheCallerChangesNoBitOfBlendedNormsDropoutAndRunningStatistics) {
  const std::int64_t rows = 3, cols = 37;
  const Floats x = numbers(rows * cols, 1), gamma = numbers(cols, 2);
  const float alpha = 1e-40f;
  const auto all = [&] {
    Floats y(x.size()), tanh(x.size()), h(x.size()), running(cols, 0.3f), variance(cols, 0.7f);
    const auto view = [&](auto& v) {
      return Rows{const_cast<float*>(v.data()), DType::f32, rows, cols, cols};
    };
    Context context;
    check(blended_norm_forward({{}, view(x), {&alpha, DType::f32, 1}, vector(gamma), {}, view(y)},
                               context));
    check(dynamic_tanh_forward({view(x), {&alpha, DType::f32, 1}, {}, {}, view(tanh)}, context));
    FusedNormForward f;
    f.x = view(x);
    f.dropout = {0.7, 3, 4};
    f.stream = view(h);
    Floats unused(x.size());
    f.y = view(unused);
    check(fused_norm_forward(f, context));
    const Images image{const_cast<float*>(x.data()), DType::f32, rows, cols, 1, cols, 1, 1};
    const Images out{unused.data(), DType::f32, rows, cols, 1, cols, 1, 1};
    check(batch_norm_forward({image, {}, {}, {}, vector(running), vector(variance), 0.1, out},
                             context));
    for (const Floats* v : {&tanh, &h, &running, &variance})
      y.insert(y.end(), v->begin(), v->end());
    return y;
  };
  const Floats want = all();
#if defined(__x86_64__)
  const unsigned saved = _mm_getcsr();
  for (const unsigned mode : {0x8040u, 0x4000u, 0x2000u, 0x6000u}) {  // DAZ + FTZ, three roundings
    _mm_setcsr((saved & ~0xe040u) | mode);
    const Floats got = all();
    _mm_setcsr(saved);
    EXPECT_EQ(got, want) << mode;
  }
#endif
}

}  // namespace
}  // namespace equinorm::test
