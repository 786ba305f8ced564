// Arguments that C refuses in the words of C++, and numbers that only C can hand in.
//
// What each rule is for is tested with the C++ functions; here the name, the value and the rule
// must come through. The trap: all problems are those of one seed, whose shapes some values show.
#include <cmath>

#include "c_api_block_operators.hpp"

namespace equinorm::test {
namespace {

const Choice<DType> kNoType(77);
const std::uint8_t kMask[1] = {1};

TEST(CApiErrors, NameTheArgumentsOfGroupedNorms) {
  const auto f = kGroupedNormForward;
  expect_refused(
      f, [](auto& a) { a.form.eps = -1; }, "eps", "-1", "finite and at least 0");
  expect_refused(
      f, [](auto& a) { a.form.part = 0; }, "form.part", "0", "above 0 and at most 1");
  expect_refused(
      f, [](auto& a) { a.form.spread = Choice<Spread>(9); }, "form.spread", "9", "must be root");
  expect_refused(
      f, [](auto& a) { a.form.gain = Choice<Gain>(9); }, "form.gain", "9", "must be none");
  expect_refused(
      f, [](auto& a) { a.x.dtype = kNoType; }, "x.dtype", "77", "bf16");
  expect_refused(
      f, [](auto& a) { a.x.data = nullptr; }, "x.data", "null", "must point to data");
  expect_refused(
      f, [](auto& a) { a.x.at.groups = -1; }, "x.groups", "-1", "at least 0");
  expect_refused(
      f, [](auto& a) { a.y.at.groups = 0; }, "y.groups", "0", "must equal x.groups");
  expect_refused(
      f, [](auto& a) { a.x.at.run = -3; }, "x.run", "-3", "at least 0");
  expect_refused(
      f, [](auto& a) { a.y.at.rows = 0; }, "y.rows", "0", "must equal x.rows");
  expect_refused(
      f, [](auto& a) { a.gamma.size = 1001; }, "gamma.size", "1001", "x.cols");
  expect_refused(
      f, [](auto& a) { a.mean.data = nullptr; }, "mean.data", "null", "both or none");
  expect_refused(
      f, [](auto& a) { a.variance.dtype = Choice<DType>(DType::f32); }, "variance.dtype", "f32",
      "must be f64");
  const auto b = kGroupedNormBackward;
  expect_refused(
      b, [](auto& a) { a.dy.dtype = kNoType; }, "dy.dtype", "77", "bf16");
  expect_refused(
      b, [](auto& a) { a.dx.dtype = Choice<DType>(DType::f16); }, "dx.dtype", "f16",
      "must equal x.dtype");
  expect_refused(
      b, [](auto& a) { a.given.variance.data = nullptr; }, "given.variance.data", "null",
      "both or none");
  expect_refused(
      b, [](auto& a) { a.dgamma.size = 1001; }, "dgamma.size", "1001", "");
}

TEST(CApiErrors, NameTheArgumentsOfImages) {
  const auto all = [](const auto&... op) {
    const auto each = [](const auto& o) {
      expect_refused(
          o, [](auto& a) { a.x.samples = -1; }, "x.samples", "-1", "at least 0");
      expect_refused(
          o, [](auto& a) { a.x.channels = -2; }, "x.channels", "-2", "at least 0");
      expect_refused(
          o, [](auto& a) { a.x.positions = -3; }, "x.positions", "-3", "at least 0");
      expect_refused(
          o, [](auto& a) { a.x.dtype = kNoType; }, "x.dtype", "77", "bf16");
      expect_refused(
          o, [](auto& a) { a.gamma.size = 1001; }, "gamma.size", "1001", "x.channels");
    };
    (each(op), ...);
  };
  all(kGroupNormForward, kGroupNormBackward, kImageLayerNormForward, kImageLayerNormBackward,
      kBatchNormForward, kBatchNormBackward);
  const auto y = [](const auto& op) {
    expect_refused(
        op, [](auto& a) { a.y.position_stride = a.y.channel_stride = a.y.sample_stride = 0; },
        "y.position_stride", "0", "no two elements");
  };
  y(kGroupNormForward);
  y(kImageLayerNormForward);
  y(kBatchNormForward);

  const auto groups = [](const auto& op) {
    expect_refused(
        op, [](auto& a) { a.groups = 0; }, "groups", "0", "at least 1 and divide");
    expect_refused(
        op, [](auto& a) { a.groups = 1000; }, "groups", "1000", "divide x.channels");
    expect_refused(
        op, [](auto& a) { a.eps = HUGE_VAL; }, "eps", "inf", "finite and at least 0");
  };
  groups(kGroupNormForward);
  groups(kGroupNormBackward);
  const auto axes = [](const auto& op) {
    expect_refused(
        op, [](auto& a) { a.axes = Choice<LayerAxes>(2); }, "axes", "2", "channels or sample");
  };
  axes(kImageLayerNormForward);
  axes(kImageLayerNormBackward);
}

TEST(CApiErrors, NameTheArgumentsOfBatchNorms) {
  const auto both = [](const auto& op) {
    expect_refused(
        op,
        [](auto& a) {
          a.options.per_position = true;
          a.options.mask = kMask;
        },
        "options.mask", "not null", "must be null with per_position");
    expect_refused(
        op,
        [](auto& a) {
          a.options.training = false;
          a.running_mean.data = nullptr;
        },
        "running_mean.data", "null", "must be given outside training");
    expect_refused(
        op, [](auto& a) { a.options.eps = -1; }, "eps", "-1", "finite and at least 0");
  };
  both(kBatchNormForward);
  both(kBatchNormBackward);
  expect_refused(
      kBatchNormForward, [](auto& a) { a.momentum = 1.5; }, "momentum", "1.5", "at most 1");
}

TEST(CApiErrors, NameTheArgumentsOfHeads) {
  const auto f = kHeadNormForward;
  expect_refused(
      f, [](auto& a) { a.x.tokens = -1; }, "x.tokens", "-1", "at least 0");
  expect_refused(
      f, [](auto& a) { a.x.heads = -1; }, "x.heads", "-1", "at least 0");
  expect_refused(
      f, [](auto& a) { a.y.heads = 0; }, "y.heads", "0", "must equal x.heads");
  expect_refused(
      f, [](auto& a) { a.x.width = -4; }, "x.width", "-4", "at least 0");
  expect_refused(
      f, [](auto& a) { a.gamma.size = 1001; }, "gamma.size", "1001", "");
  expect_refused(
      f, [](auto& a) { a.form.eps = NAN; }, "eps", "nan", "finite");
  const auto b = kHeadNormBackward;
  expect_refused(
      b, [](auto& a) { a.dy.tokens = 0; }, "dy.tokens", "0", "must equal x.tokens");
  expect_refused(
      b, [](auto& a) { a.dbeta.size = 1001; }, "dbeta.size", "1001", "");
}

TEST(CApiErrors, NameTheArgumentsOfModulatedNorms) {
  const auto both = [](const auto& op) {
    expect_refused(
        op, [](auto& a) { a.rows_per_group = 0; }, "rows_per_group", "0", "at least 1");
    expect_refused(
        op, [](auto& a) { a.rows_per_group = 1000; }, "rows_per_group", "1000", "divide x.rows");
    expect_refused(
        op, [](auto& a) { a.scale.rows = 77; }, "scale.rows", "77", "");
  };
  both(kModulatedNormForward);
  both(kModulatedNormBackward);
  expect_refused(
      kModulatedNormForward, [](auto& a) { a.shift.cols = 77; }, "shift.cols", "77", "x.cols");
  expect_refused(
      kModulatedNormBackward, [](auto& a) { a.dshift.rows = 77; }, "dshift.rows", "77", "");
}

/// With y in 8 bits instead of y.
template <class Args>
void quantize(Args& a) {
  a.quantized.data = a.y.data;
  a.quantized.rows = a.x.rows;
  a.quantized.cols = a.quantized.row_stride = a.x.cols;
  a.quantized.kind = Choice<Quantization>(Quantization::int8_fixed);
  a.quantized.fixed_scale = 0.5;
  a.y.data = nullptr;
}

/// A fused forward problem that gives y, whatever the seed would give.
constexpr Operator kFusedToY{"fused_norm_forward to y", equinorm_fused_norm_forward,
                             fused_norm_forward, [](auto& a, Memory& m) {
                               a.form = AnyForm{RowForm{}};
                               a.x = m.rows(Use::in, m.x, 6, 8);
                               a.parameters.rows_per_group = 2;
                               a.parameters.gate = m.rows(Use::in, m.p, 3, 8);
                               a.y = m.rows(Use::out, m.y, 6, 8);
                             }};

TEST(CApiErrors, NameTheArgumentsOfFusedNorms) {
  const auto both = [](const auto& op) {
    expect_refused(
        op, [](auto& a) { a.dropout.p = 1.5; }, "dropout.p", "1.5", "at most 1");
    expect_refused(
        op, [](auto& a) { a.parameters.rows_per_group = 0; }, "rows_per_group", "0", "at least 1");
  };
  both(kFusedToY);
  both(kFusedNormBackward);
  const auto f = kFusedToY;
  expect_refused(
      f, [](auto& a) { a.parameters.gate.rows = 77; }, "parameters.gate.rows", "77", "");
  expect_refused(
      f, [](auto& a) { a.parameters.gamma.data = a.x.data; }, "parameters.gamma", "not null",
      "must be null with a scale, a shift or a gate");
  expect_refused(
      f, [](auto& a) { a.quantized.data = a.y.data; }, "quantized.data", "not null",
      "must be null where y is given");
  const auto quantized = [&](auto spoil, const char* argument, const char* value,
                             const char* rule) {
    const auto both_steps = [&](auto& a) {
      quantize(a);
      spoil(a.quantized);
    };
    expect_refused(f, both_steps, argument, value, rule);
  };
  quantized([](auto& q) { q.kind = Choice<Quantization>(0); }, "quantized.kind", "0",
            "int8_per_row, fp8_e4m3_per_row or int8_fixed");
  quantized([](auto& q) { q.kind = Choice<Quantization>(4); }, "quantized.kind", "4",
            "int8_per_row, fp8_e4m3_per_row or int8_fixed");
  quantized([](auto& q) { q.rows = 5; }, "quantized.rows", "5", "must equal x.rows");
  quantized([](auto& q) { q.cols = 5; }, "quantized.cols", "5", "must equal x.cols");
  quantized([](auto& q) { q.row_stride = 7; }, "quantized.row_stride", "7", "at least cols");
  quantized([](auto& q) { q.fixed_scale = 0; }, "quantized.fixed_scale", "0", "above 0");
  quantized([](auto& q) { q.kind = Choice<Quantization>(Quantization::int8_per_row); },
            "quantized.scale.data", "null", "must point to data");
  expect_refused(
      kFusedNormBackward, [](auto& a) { a.stream.data = nullptr; }, "stream.data", "null",
      "must point to data");
}

TEST(CApiErrors, NameTheArgumentsOfDynamicTanhAndBlendedNorms) {
  const auto all = [](const auto&... op) {
    const auto each = [](const auto& o) {
      expect_refused(
          o, [](auto& a) { a.alpha.data = nullptr; }, "alpha.data", "null", "given");
      expect_refused(
          o, [](auto& a) { a.alpha.size = 2; }, "alpha.size", "2", "must be 1");
      expect_refused(
          o, [](auto& a) { a.gamma.size = 1001; }, "gamma.size", "1001", "x.cols");
      expect_refused(
          o, [](auto& a) { a.x.dtype = kNoType; }, "x.dtype", "77", "bf16");
    };
    (each(op), ...);
  };
  all(kDynamicTanhForward, kDynamicTanhBackward, kBlendedNormForward, kBlendedNormBackward);
  const auto backward = [](const auto& op) {
    expect_refused(
        op, [](auto& a) { a.dalpha.size = 3; }, "dalpha.size", "3", "must be 1");
    expect_refused(
        op, [](auto& a) { a.dy.rows = 1001; }, "dy.rows", "1001", "must equal x.rows");
  };
  backward(kDynamicTanhBackward);
  backward(kBlendedNormBackward);
  expect_refused(
      kBlendedNormForward,
      [](auto& a) {
        a.form.gain = Choice<Gain>(Gain::scalar);
        a.gamma = {};
      },
      "form.gain", "3", "must be none, vector or one_plus");
}

// A C++ enumeration holds 8 bits; a larger or negative number must not turn into one of its values.
TEST(CApiErrors, RefuseNumbersThatNoEnumerationHolds) {
  const CContext context;
  const auto expect = [&](const auto& op, auto set, const char* argument) {
    for (const std::int32_t number : {-1, 256, 257, 258, -255, 1 << 30}) {
      SCOPED_TRACE(std::string(op.name) + " " + std::to_string(number));
      Memory memory({});
      auto args = op.c_args(memory);
      const auto before = memory.contents();
      set(args, number);
      const equinorm_status status = op.c(&args, context);
      EXPECT_EQ(status.code, EQUINORM_INVALID_ARGUMENT);
      EXPECT_STREQ(status.argument, argument);
      EXPECT_EQ(memory.contents(), before);
    }
  };
  for_each_operator([&](const auto& op) {
    expect(
        op, [](auto& a, std::int32_t number) { a.x.dtype = number; }, "x.dtype");
  });
  expect(
      kGroupedNormForward, [](auto& a, auto number) { a.form.spread = number; }, "form.spread");
  expect(
      kHeadNormForward, [](auto& a, auto number) { a.form.gain = number; }, "form.gain");
  expect(
      kImageLayerNormForward, [](auto& a, auto number) { a.axes = number; }, "axes");
  expect(
      kFusedToY,
      [](auto& a, auto number) {
        quantize(a);
        a.quantized.kind = number;
      },
      "quantized.kind");
}

}  // namespace
}  // namespace equinorm::test
