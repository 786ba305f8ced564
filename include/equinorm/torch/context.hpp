// The Context that the LibTorch front end uses on the calling thread, and its threads: PyTorch's
// own pool through at::parallel_for, so at::set_num_threads counts and no second pool competes.
//
// The one trap: the backward pass of CPU tensors runs on the thread that calls backward(), and
// reads that thread's Context. Rows that took the exact path in the forward pass take it again
// whatever that Context says.
#pragma once

#include <ATen/Parallel.h>

#include <cstdint>

#include "equinorm/context.hpp"

namespace equinorm::torch {

/// Runs Equinorm's tasks on PyTorch's threads. Inside another at::parallel_for it runs them on the
/// calling thread.
class ParallelForExecutor final : public Executor {
 public:
  [[nodiscard]] int concurrency() const noexcept override {
    return at::in_parallel_region() ? 1 : at::get_num_threads();
  }

  void run(std::int64_t count, Task task, void* state) noexcept override {
    at::parallel_for(0, count, /*grain_size=*/1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) task(state, i);
    });
  }
};

/// The calling thread's Context. Change its accuracy or instruction set here; its executor is
/// PyTorch's pool.
inline Context& context() {
  static ParallelForExecutor executor;
  thread_local Context context = [] {
    Context made;
    made.set_executor(&executor);
    return made;
  }();
  return context;
}

}  // namespace equinorm::torch
