// Every operator from C: the bits of C++ for any types, layouts and optional arguments; argument
// structs that are missing, short, of a later version, or as EQUINORM_INIT leaves them.
//
// Contexts and named forms are in c_api_test.cpp, arguments that are refused in
// c_api_errors_test.cpp.
#include "c_api_block_operators.hpp"

namespace equinorm::test {
namespace {

using Layout = Variant::Layout;
using Optional = Variant::Optional;

TEST(CApiOperators, GiveTheBitsOfTheCppInterface) {
  struct Types {
    DType x, y, parameter;
  };
  constexpr Types kTypes[] = {{DType::f32, DType::f32, DType::f32},
                              {DType::bf16, DType::f16, DType::f32},
                              {DType::f64, DType::f32, DType::f64},
                              {DType::f16, DType::f64, DType::bf16}};
  std::uint32_t seed = 1;
  for (const Types& t : kTypes) {
    for (const Layout layout : {Layout::dense, Layout::padded, Layout::reversed}) {
      for (const Optional optional :
           {Optional::all, Optional::none, Optional::some, Optional::some, Optional::some}) {
        const Variant variant{seed++, t.x, t.y, t.parameter, layout, optional};
        for_each_operator([&](const auto& op) { expect_same_bits(op, variant); });
      }
    }
  }
}

TEST(CApiOperators, RefuseWhatIsNotThere) {
  for_each_operator([](const auto& op) {
    SCOPED_TRACE(op.name);
    Memory memory({});
    auto args = op.c_args(memory);
    const auto before = memory.contents();
    const CContext context;
    EXPECT_EQ(text(op.c(nullptr, context)), "1 args = null: must point to the arguments");
    EXPECT_EQ(text(op.c(&args, nullptr)), "1 context = null: must come from context_new");
    EXPECT_EQ(memory.contents(), before);
  });
}

TEST(CApiOperators, RefuseAStructShorterThanThatOfTheFirstVersion) {
  for_each_operator([](const auto& op) {
    SCOPED_TRACE(op.name);
    Memory memory({});
    auto args = op.c_args(memory);
    const auto before = memory.contents();
    const CContext context;
    for (const std::size_t size : {std::size_t{0}, sizeof(std::size_t), sizeof args - 1}) {
      args.struct_size = size;
      EXPECT_EQ(text(op.c(&args, context)),
                "1 struct_size = " + std::to_string(size) + ": must be the sizeof of the struct");
    }
    EXPECT_EQ(memory.contents(), before);
  });
}

TEST(CApiOperators, TakeALongerStructOfALaterVersion) {
  for_each_operator([](const auto& op) {
    SCOPED_TRACE(op.name);
    Memory memory({}), other({});
    struct {
      decltype(op.c_args(memory)) args;
      std::int64_t more[4] = {-1, -1, -1, -1};
    } later = {op.c_args(memory)};
    const auto args = op.c_args(other);
    later.args.struct_size = sizeof later;
    const CContext context;
    EXPECT_EQ(text(op.c(&later.args, context)), text(Status{}));
    EXPECT_EQ(text(op.c(&args, context)), text(Status{}));
    EXPECT_EQ(memory.contents(), other.contents());
  });
}

// Rows that are not there are no error, but what has no meaning at 0 is one, whatever its rows.
TEST(CApiOperators, SayWhatZerosMean) {
  const CContext context;
  for_each_operator([&](const auto& op) {
    SCOPED_TRACE(op.name);
    typename std::remove_cvref_t<decltype(op)>::CArgs args = {};
    args.struct_size = sizeof args;
    const equinorm_status status = op.c(&args, context);
    const std::string name = op.name;
    const auto starts_with = [&](const char* word) { return name.rfind(word, 0) == 0; };
    std::string expected;
    if (starts_with("row") || starts_with("grouped") || starts_with("head") ||
        starts_with("blended")) {
      expected = "form.part";
    } else if (starts_with("modulated") || starts_with("fused")) {
      expected = "rows_per_group";
    } else if (starts_with("group_norm")) {
      expected = "groups";
    } else if (starts_with("dynamic")) {
      expected = "alpha.data";
    }
    EXPECT_EQ(status.argument, expected) << text(status);
    EXPECT_EQ(status.code, expected.empty() ? EQUINORM_OK : EQUINORM_INVALID_ARGUMENT);
  });
}

TEST(CApiOperators, HaveTheNumbersOfTheCppEnumerations) {
  const auto is = [](auto cpp, int c) { return static_cast<int>(cpp) == c; };
  EXPECT_TRUE(is(DType::f64, EQUINORM_F64) && is(DType::f32, EQUINORM_F32) &&
              is(DType::f16, EQUINORM_F16) && is(DType::bf16, EQUINORM_BF16));
  EXPECT_TRUE(is(StatusCode::ok, EQUINORM_OK) &&
              is(StatusCode::invalid_argument, EQUINORM_INVALID_ARGUMENT) &&
              is(StatusCode::unsupported, EQUINORM_UNSUPPORTED) &&
              is(StatusCode::out_of_memory, EQUINORM_OUT_OF_MEMORY));
  EXPECT_TRUE(is(Spread::root, EQUINORM_ROOT) && is(Spread::added, EQUINORM_ADDED) &&
              is(Spread::clamped, EQUINORM_CLAMPED) && is(Spread::length, EQUINORM_LENGTH));
  EXPECT_TRUE(is(Gain::none, EQUINORM_GAIN_NONE) && is(Gain::vector, EQUINORM_GAIN_VECTOR) &&
              is(Gain::one_plus, EQUINORM_GAIN_ONE_PLUS) &&
              is(Gain::scalar, EQUINORM_GAIN_SCALAR) && is(Gain::adaptive, EQUINORM_GAIN_ADAPTIVE));
  EXPECT_TRUE(is(LayerAxes::channels, EQUINORM_AXES_CHANNELS) &&
              is(LayerAxes::sample, EQUINORM_AXES_SAMPLE));
  EXPECT_TRUE(is(Quantization::int8_per_row, EQUINORM_INT8_PER_ROW) &&
              is(Quantization::fp8_e4m3_per_row, EQUINORM_FP8_E4M3_PER_ROW) &&
              is(Quantization::int8_fixed, EQUINORM_INT8_FIXED));
}

}  // namespace
}  // namespace equinorm::test
