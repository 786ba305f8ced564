// Tasks on OpenMP threads, the default executor.
//
// Inside another OpenMP parallel region its tasks run one after the other on the calling thread,
// unless the program allows nested regions.
#pragma once

#include "equinorm/context.hpp"

namespace equinorm::parallel {

/// OpenMP's own default, at least 1.
int openmp_default_threads() noexcept;

class OpenMpExecutor final : public Executor {
 public:
  explicit OpenMpExecutor(int threads) noexcept : threads_(threads) {}

  [[nodiscard]] int concurrency() const noexcept override { return threads_; }
  void run(std::int64_t count, Task task, void* state) noexcept override;

 private:
  int threads_;
};

}  // namespace equinorm::parallel
