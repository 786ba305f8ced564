// Instruction sets: listed, forced, refused, and proved by what the kernel itself reports.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/kernel_names.h"
#include "kernels/kernel_table.h"
#include "kernels/storage.h"
#include "support.hpp"

namespace equinorm::test {
namespace {

TEST(Isa, PortableIsAlwaysAvailableAndNarrowest) {
  ASSERT_FALSE(available_isas().empty());
  EXPECT_EQ(available_isas().front(), Isa::portable);
  EXPECT_TRUE(std::is_sorted(available_isas().begin(), available_isas().end()));
}

TEST(Isa, WidestIsTheDefault) { EXPECT_EQ(Context().isa(), available_isas().back()); }

TEST(Isa, ForcedOneIsTheOneThatRan) {
  for (const Isa isa : available_isas()) {
    SCOPED_TRACE(name_of(isa));
    Problem p(3, 100);
    Context context;
    ASSERT_TRUE(context.set_isa(isa).ok());
    check(layer_norm_forward(p.layer_forward(), context));
    EXPECT_EQ(context.last_isa(), isa);
    Context backward;
    ASSERT_TRUE(backward.set_isa(isa).ok());
    check(rms_norm_backward(p.rms_backward(), backward));
    EXPECT_EQ(backward.last_isa(), isa);
  }
}

TEST(Isa, AllGiveTheSameBits) {
  Context portable;
  ASSERT_TRUE(portable.set_isa(Isa::portable).ok());
  const auto expected = all_outputs(37, 1100, portable);
  for (const Isa isa : available_isas()) {
    Context context;
    ASSERT_TRUE(context.set_isa(isa).ok());
    EXPECT_EQ(all_outputs(37, 1100, context), expected) << name_of(isa);
  }
}

TEST(Isa, OneThatIsNotAvailableIsUnsupportedAndChangesNothing) {
  const auto isas = available_isas();
  int refused = 0;
  for (const Isa isa : {Isa::portable, Isa::neon, Isa::avx2, Isa::avx3}) {
    if (std::find(isas.begin(), isas.end(), isa) != isas.end()) continue;
    Context context;
    const Status status = context.set_isa(isa);
    EXPECT_EQ(status.code, StatusCode::unsupported);
    EXPECT_STREQ(status.argument, "isa");
    EXPECT_STREQ(status.value, name_of(isa));
    EXPECT_EQ(context.isa(), isas.back());
    ++refused;
  }
  EXPECT_GT(refused, 0) << "no machine has both NEON and AVX2";
}

TEST(KernelList, EveryKernelIsInEveryTable) {
  using namespace kernels;
  EXPECT_EQ(all_kernels().size(), 64u);
  for (const Isa isa : available_isas()) {
    const auto target = static_cast<Target>(isa);
    EXPECT_EQ(forward_table(target)->target, target);
    EXPECT_EQ(backward_table(target)->target, target);
    EXPECT_EQ(parameter_table(target)->target, target);
    const ForwardTable& f = *forward_table(target);
    const BackwardTable& b = *backward_table(target);
    for (const KernelName& k : all_kernels()) {
      const bool layer = std::string(k.op) == "layer_norm";
      const Type c = k.x == Type::f64 || k.y == Type::f64 ? Type::f64 : Type::f32;
      const bool there = std::string(k.direction) == "fwd"
                             ? at(layer ? f.centered : f.plain, c, k.y) != nullptr
                             : at(layer ? b.centered : b.plain, c, k.x) != nullptr;
      EXPECT_TRUE(there) << spelled(k, target);
    }
  }
}

TEST(KernelList, SpellsNamesByOneGrammar) {
  using namespace kernels;
  EXPECT_EQ(spelled({"layer_norm", "fwd", Type::bf16, Type::bf16}, Target::avx3),
            "layer_norm.fwd.bf16.avx3");
  EXPECT_EQ(spelled({"rms_norm", "bwd", Type::bf16, Type::f32}, Target::portable),
            "rms_norm.bwd.bf16_f32.portable");
}

}  // namespace
}  // namespace equinorm::test
