// EQUINORM_MAX_ISA=portable and EQUINORM_NUM_THREADS=3, which CMakeLists.txt sets for this program:
// the environment is read once per process.
#include <gtest/gtest.h>

#include "support.hpp"

namespace equinorm::test {
namespace {

TEST(Variables, LimitTheInstructionSets) {
  ASSERT_EQ(available_isas().size(), 1u);
  EXPECT_EQ(available_isas()[0], Isa::portable);
  Problem p(3, 100);
  Context context;
  check(layer_norm_forward(p.layer_forward(), context));
  EXPECT_EQ(context.last_isa(), Isa::portable);
}

TEST(Variables, RefuseWiderInstructionSets) {
  Context context;
  EXPECT_EQ(context.set_isa(Isa::avx2).code, StatusCode::unsupported);
  EXPECT_EQ(context.set_isa(Isa::neon).code, StatusCode::unsupported);
}

TEST(Variables, SetTheDefaultOfThreads) { EXPECT_EQ(Context().threads(), 3); }

}  // namespace
}  // namespace equinorm::test
