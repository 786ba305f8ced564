// The dispatch tables: one per instruction set and direction, filled from kernel_list.inc.
//
// The trap: a table exists for every instruction set the build has, whether or not this machine
// can run it; ask runs_here() first.
#pragma once

#include "kernel_types.h"

namespace equinorm::kernels {

/// Kernels of one operator, indexed by the compute type (f64 or f32) and the type of the result, y
/// or dx. Null for pairs that are not in kernel_list.inc.
template <class Kernel>
using ByTypes = Kernel[kTypes][kTypes];

struct ForwardTable {
  Target target;  ///< as the compiler saw it
  ByTypes<ForwardKernel> centered;
  ByTypes<ForwardKernel> plain;
};

struct BackwardTable {
  Target target;
  ByTypes<BackwardKernel> centered;
  ByTypes<BackwardKernel> plain;
};

struct DynamicTanhTable {
  Target target;
  DynamicTanhForward forward;
  DynamicTanhBackward backward;
};

/// Vectors between storage types and the compute type, indexed by the storage type.
struct ParameterTable {
  Target target;
  /// to = C[count], exactly. `to` is 64-byte aligned and has room for Scratch::padded(count).
  void (*to_f32[kTypes])(const void* from, std::int64_t count, void* to);  ///< f64: null
  void (*to_f64[kTypes])(const void* from, std::int64_t count, void* to);
  /// to = f64[count] rounded once. `from` is 64-byte aligned.
  void (*from_f64[kTypes])(const double* from, std::int64_t count, void* to);
};

/// Null when this build has no kernels for `target`.
const ForwardTable* forward_table(Target target) noexcept;
const BackwardTable* backward_table(Target target) noexcept;
const ParameterTable* parameter_table(Target target) noexcept;
const DynamicTanhTable* dynamic_tanh_table(Target target) noexcept;

/// This build has kernels for `target` and this machine can run them.
bool runs_here(Target target) noexcept;

}  // namespace equinorm::kernels
