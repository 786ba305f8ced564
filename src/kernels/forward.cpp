// Forward kernels of every instruction set, and the tables that list them.
#include "targets.h"

#define HWY_TARGET_INCLUDE "forward.cpp"
#include "hwy/foreach_target.h"
// foreach_target first: it includes this file once per target.
#include "forward-inl.h"
#include "kernel_table.h"
#include "storage.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

const ForwardTable& forward_kernels() {
  static constexpr ForwardTable kTable = [] {
    ForwardTable t{EQUINORM_TARGET, {}, {}};
#define EQUINORM_RESULT(c, type)                                                               \
  at(t.centered, Type::c, Type::type) = &forward<true, Storage<Type::c>, Storage<Type::type>>; \
  at(t.plain, Type::c, Type::type) = &forward<false, Storage<Type::c>, Storage<Type::type>>;
#include "kernel_list.inc"
    return t;
  }();
  return kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace equinorm::kernels {

const ForwardTable* forward_table(Target target) noexcept {
  return EQUINORM_PICK_TABLE(target, forward_kernels);
}

}  // namespace equinorm::kernels
#endif
