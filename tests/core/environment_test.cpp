// The caller's floating-point settings: no influence on bits, and still there afterwards.
#include <gtest/gtest.h>

#include <cfenv>

#include "parallel/fp_environment.h"
#include "support.hpp"

namespace equinorm::test {
namespace {

/// Writes f64 gradients and 1 + gamma, which round outside the tasks.
std::vector<unsigned char> rounding_outputs(Context& context) {
  Problem p(40, 300);
  RmsNormForward forward = p.rms_forward();
  forward.add_one = true;
  check(rms_norm_forward(forward, context));
  check(rms_norm_backward(p.rms_backward(), context));
  return p.output_bytes();
}

class Rounding : public testing::TestWithParam<int> {};

TEST_P(Rounding, OfTheCallerChangesNoBitsAndIsKept) {
  Context context;
  const auto expected = rounding_outputs(context);
  // Made before the mode changes: the test's own arithmetic must not round differently.
  Problem p(40, 300);
  RmsNormForward forward = p.rms_forward();
  forward.add_one = true;
  ASSERT_EQ(std::fesetround(GetParam()), 0);
  const Status first = rms_norm_forward(forward, context);
  const Status second = rms_norm_backward(p.rms_backward(), context);
  const int after = std::fegetround();
  std::fesetround(FE_TONEAREST);
  check(first);
  check(second);
  EXPECT_EQ(after, GetParam());
  EXPECT_EQ(p.output_bytes(), expected);
}

INSTANTIATE_TEST_SUITE_P(Modes, Rounding, testing::Values(FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO));

#if defined(__x86_64__) || defined(__aarch64__)
#if defined(__x86_64__)
std::uint64_t settings() { return _mm_getcsr(); }
void set(std::uint64_t value) { _mm_setcsr(static_cast<unsigned>(value)); }
constexpr std::uint64_t kFlush = 0x8040;  // flush to zero, denormals are zero
#else
std::uint64_t settings() {
  std::uint64_t value;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
void set(std::uint64_t value) { asm volatile("msr fpcr, %0" : : "r"(value) : "memory"); }
constexpr std::uint64_t kFlush = std::uint64_t{1} << 24;
#endif

TEST(FlushToZero, OfTheCallerChangesNoBitsAndIsKept) {
  Context context;
  ASSERT_TRUE(context.set_threads(1).ok());
  // Inputs are made before flushing is on: the test's own arithmetic must not be flushed.
  Problem expected(40, 300), flushed(40, 300);
  for (Problem* p : {&expected, &flushed}) {
    for (float& v : p->x) v *= 0x1p-130f;
    for (float& v : p->gamma) v *= 0x1p-127f;
  }
  const LayerNormForward a = [](LayerNormForward args) {
    args.eps = 0;
    return args;
  }(expected.layer_forward());
  LayerNormForward b = flushed.layer_forward();
  b.eps = 0;
  check(layer_norm_forward(a, context));
  const std::uint64_t before = settings();
  set(before | kFlush);
  const std::uint64_t changed = settings();
  const Status status = layer_norm_forward(b, context);
  const std::uint64_t after = settings();
  set(before);
  check(status);
  ASSERT_NE(changed, before);
  EXPECT_EQ(after & kFlush, kFlush);
  EXPECT_EQ(flushed.output_bytes(), expected.output_bytes());
}
#endif

}  // namespace
}  // namespace equinorm::test
