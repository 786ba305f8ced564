// Which compiled instruction sets the processor at hand can run.
#include "kernel_table.h"

namespace equinorm::kernels {

bool runs_here(Target target) noexcept {
  if (forward_table(target) == nullptr) return false;
#if defined(__x86_64__)
  // The feature test includes the operating system's support for the registers.
  switch (target) {
    case Target::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
    case Target::avx3:
      return runs_here(Target::avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
    default:
      break;
  }
#endif
  return true;
}

}  // namespace equinorm::kernels
