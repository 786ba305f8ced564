// The C interface: contexts, executors, versions and named forms. The operators themselves are in
// c_api_operators_test.cpp and c_api_errors_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "equinorm/equinorm.h"
#include "equinorm/equinorm.hpp"
#include "equinorm/row_forms.hpp"

namespace equinorm::test {
namespace {

constexpr std::int64_t kRows = 40, kCols = 33;

std::vector<float> numbers(std::uint32_t seed) {
  std::vector<float> v(kRows * kCols);
  for (float& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(seed >> 8) * 0x1p-23f - 1;
  }
  return v;
}

equinorm_const_rows in(const std::vector<float>& v) {
  return {v.data(), EQUINORM_F32, kRows, kCols, kCols};
}
equinorm_rows out(std::vector<float>& v) { return {v.data(), EQUINORM_F32, kRows, kCols, kCols}; }

struct CApi : testing::Test {
  equinorm_context* context = equinorm_context_new();
  std::vector<float> x = numbers(1), y = std::vector<float>(kRows * kCols);
  ~CApi() override { equinorm_context_free(context); }
};

TEST_F(CApi, RunsEveryNamedForm) {
  for (const NamedForm& named : kRowForms) {
    equinorm_row_norm_forward_args forward = EQUINORM_INIT(equinorm_row_norm_forward_args);
    ASSERT_EQ(equinorm_named_form(named.name, &forward.form).code, EQUINORM_OK) << named.name;
    forward.x = in(x);
    forward.y = out(y);
    ASSERT_EQ(equinorm_row_norm_forward(&forward, context).code, EQUINORM_OK) << named.name;
    std::vector<float> want(y.size());
    Context cpp;
    check(row_norm_forward({named.form,
                            {x.data(), DType::f32, kRows, kCols, kCols},
                            {},
                            {},
                            {want.data(), DType::f32, kRows, kCols, kCols}},
                           cpp));
    EXPECT_EQ(y, want) << named.name;
  }
  equinorm_row_form form;
  const equinorm_status status = equinorm_named_form("LayerNrom", &form);
  EXPECT_EQ(status.code, EQUINORM_INVALID_ARGUMENT);
  EXPECT_STREQ(status.value, "LayerNrom");
}

TEST_F(CApi, NamesWhatIsWrongAndTouchesNothing) {
  const std::vector<float> before = y;
  equinorm_row_norm_forward_args args = EQUINORM_INIT(equinorm_row_norm_forward_args);
  args.form.eps = -1;
  args.form.part = 1;
  args.x = in(x);
  args.y = out(y);
  EXPECT_STREQ(equinorm_row_norm_forward(&args, context).argument, "eps");
  args.form.eps = 0;
  args.form.spread = 77;
  EXPECT_STREQ(equinorm_row_norm_forward(&args, context).argument, "form.spread");
  args.form.spread = 0;
  args.x.dtype = 1000;
  EXPECT_STREQ(equinorm_row_norm_forward(&args, context).argument, "x.dtype");
  args.x.dtype = EQUINORM_F32;
  EXPECT_EQ(equinorm_context_set_threads(context, 0).code, EQUINORM_INVALID_ARGUMENT);
  EXPECT_EQ(equinorm_context_set_isa(context, "sse").code, EQUINORM_INVALID_ARGUMENT);
  EXPECT_EQ(y, before);
}

TEST_F(CApi, HandsTasksToTheCallersExecutor) {
  struct Calls {
    int runs = 0;
  } calls;
  const auto run = [](void* user, std::int64_t count, equinorm_task task, void* state) {
    ++static_cast<Calls*>(user)->runs;
    for (std::int64_t i = count - 1; i >= 0; --i) task(state, i);
  };
  ASSERT_EQ(equinorm_context_set_executor(context, 4, run, &calls).code, EQUINORM_OK);
  std::vector<float> large(1 << 21, 1.0f), result(large.size());
  equinorm_rms_norm_forward_args args = EQUINORM_INIT(equinorm_rms_norm_forward_args);
  args.x = {large.data(), EQUINORM_F32, 2048, 1024, 1024};
  args.y = {result.data(), EQUINORM_F32, 2048, 1024, 1024};
  ASSERT_EQ(equinorm_rms_norm_forward(&args, context).code, EQUINORM_OK);
  EXPECT_EQ(calls.runs, 1);
  EXPECT_EQ(result[0], 1);
  ASSERT_EQ(equinorm_context_set_executor(context, 0, nullptr, nullptr).code, EQUINORM_OK);
  ASSERT_EQ(equinorm_rms_norm_forward(&args, context).code, EQUINORM_OK);
  EXPECT_EQ(calls.runs, 1);
}

TEST_F(CApi, TakesTheInstructionSetsOfThisMachineAndCallsOthersUnsupported) {
  const auto here = available_isas();
  for (const Isa isa : {Isa::portable, Isa::neon, Isa::avx2, Isa::avx3}) {
    const bool available = std::find(here.begin(), here.end(), isa) != here.end();
    const equinorm_status status = equinorm_context_set_isa(context, name_of(isa));
    EXPECT_EQ(status.code, available ? EQUINORM_OK : EQUINORM_UNSUPPORTED) << name_of(isa);
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which end the process
// Statistics with a mask want a list of all that counts; elements in one place are many at no cost.
TEST_F(CApi, SaysWhenThereIsNoMemory) {
  constexpr std::int64_t kSamples = std::int64_t{1} << 46;
  const std::uint8_t mask = 1;
  equinorm_batch_norm_backward_args args = EQUINORM_INIT(equinorm_batch_norm_backward_args);
  args.x = args.dy = {x.data(), EQUINORM_F32, kSamples, 1, 1, 0, 0, 0};
  args.options = {1e-5, 1, 0, &mask};
  EXPECT_EQ(equinorm_batch_norm_backward(&args, context).code, EQUINORM_OUT_OF_MEMORY);
}
#endif

TEST(CApiInfo, SaysVersions) {
  EXPECT_EQ(std::string(equinorm_version()), "0.1.0");
  EXPECT_EQ(equinorm_numerics_version(), kNumericsVersion);
  equinorm_context_free(nullptr);
}

}  // namespace
}  // namespace equinorm::test
