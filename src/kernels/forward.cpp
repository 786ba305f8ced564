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
#define EQUINORM_TYPE_PAIR(x, y)                                                           \
  at(t.layer_norm, Type::x, Type::y) = &forward<true, Storage<Type::x>, Storage<Type::y>>; \
  at(t.rms_norm, Type::x, Type::y) = &forward<false, Storage<Type::x>, Storage<Type::y>>;
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
