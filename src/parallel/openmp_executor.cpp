#include "openmp_executor.h"

#include <omp.h>

#include <algorithm>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace equinorm::parallel {
namespace {

// ThreadSanitizer cannot see that libgomp orders what happens before a fork and after a join.
#if defined(__SANITIZE_THREAD__)
#define EQUINORM_NOT_INSTRUMENTED __attribute__((no_sanitize("thread")))
void publish(void* point) { __tsan_release(point); }
void observe(void* point) { __tsan_acquire(point); }
#else
#define EQUINORM_NOT_INSTRUMENTED
void publish(void*) {}
void observe(void*) {}
#endif

}  // namespace

int openmp_default_threads() noexcept { return std::max(1, omp_get_max_threads()); }

EQUINORM_NOT_INSTRUMENTED
void OpenMpExecutor::run(std::int64_t count, Task task, void* state) noexcept {
  const int threads = static_cast<int>(std::min<std::int64_t>(count, threads_));
  char fork, join;
  publish(&fork);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (std::int64_t i = 0; i < count; ++i) {
    observe(&fork);
    task(state, i);
    publish(&join);
  }
  observe(&join);
}

}  // namespace equinorm::parallel
