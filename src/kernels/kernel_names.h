// Names of kernels, as tests, benchmarks and documents spell them: layer_norm.fwd.bf16.avx3, or
// layer_norm.fwd.bf16_f32.avx3 where x and y (or dy) differ.
//
// Not used to dispatch; see kernel_table.h.
#pragma once

#include <string>
#include <vector>

#include "kernel_types.h"

namespace equinorm::kernels {

struct KernelName {
  const char* op;         ///< "layer_norm", "rms_norm"
  const char* direction;  ///< "fwd", "bwd"
  Type x;
  Type y;  ///< of y, or of dy
};

/// Every kernel of kernel_list.inc.
inline std::vector<KernelName> all_kernels() {
  struct Pair {
    Type x, y;
  };
  const Pair pairs[] = {
#define EQUINORM_TYPE_PAIR(x, y) {Type::x, Type::y},
#include "kernel_list.inc"
  };
  std::vector<KernelName> names;
#define EQUINORM_KERNEL(op, direction) \
  for (const Pair& pair : pairs) names.push_back({#op, #direction, pair.x, pair.y});
#include "kernel_list.inc"
  return names;
}

inline const char* type_name(Type type) {
  constexpr const char* kNames[kTypes] = {"f64", "f32", "f16", "bf16"};
  return kNames[static_cast<int>(type)];
}

inline const char* target_name(Target target) {
  constexpr const char* kNames[kTargets] = {"portable", "neon", "avx2", "avx3"};
  return kNames[static_cast<int>(target)];
}

inline std::string spelled(const KernelName& kernel, Target target) {
  std::string types = type_name(kernel.x);
  if (kernel.x != kernel.y) types += std::string("_") + type_name(kernel.y);
  return std::string(kernel.op) + "." + kernel.direction + "." + types + "." + target_name(target);
}

}  // namespace equinorm::kernels
