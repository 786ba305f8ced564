#include "openmp_executor.h"

#include <omp.h>

#include <algorithm>

namespace equinorm::parallel {

int openmp_default_threads() noexcept { return std::max(1, omp_get_max_threads()); }

void OpenMpExecutor::run(std::int64_t count, Task task, void* state) noexcept {
  const int threads = static_cast<int>(std::min<std::int64_t>(count, threads_));
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (std::int64_t i = 0; i < count; ++i) task(state, i);
}

}  // namespace equinorm::parallel
