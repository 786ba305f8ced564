// How a call is split into tasks.
//
// Work is never split finer than its units (rows, or chunks of the sums over rows), so the split
// cannot change bits.
#pragma once

#include <algorithm>
#include <cstdint>

#include "equinorm/context.hpp"
#include "equinorm/types.hpp"
#include "fp_environment.h"

namespace equinorm::parallel {

/// A task must move at least this much. Waking an OpenMP thread and waiting for it costs about as
/// long as one core takes for 64 KiB in cache, so smaller shares would lose time, not win it.
inline constexpr std::int64_t kTaskBytes = 64 * 1024;

/// Results of at least this size are written around the caches: they would push out the inputs,
/// and be read back from memory anyway. The size is the last-level cache of a common server core
/// complex; below it the next operator often finds the results in cache.
inline constexpr std::int64_t kStreamBytes = 32 * 1024 * 1024;

inline bool too_large_for_cache(std::int64_t rows, std::int64_t cols, DType dtype) {
  return rows * cols * static_cast<std::int64_t>(size_of(dtype)) >= kStreamBytes;
}

/// Number of tasks for `units` indivisible units that move `bytes` together; at least 1.
inline std::int64_t count_tasks(std::int64_t units, std::int64_t bytes, int concurrency) {
  const std::int64_t worth = std::min(units, bytes / kTaskBytes);
  return std::max<std::int64_t>(1, std::min<std::int64_t>(worth, concurrency));
}

struct Range {
  std::int64_t begin;
  std::int64_t end;
};

/// Units of task `index` of `tasks`: as even as they get, the larger shares first.
inline Range share(std::int64_t units, std::int64_t tasks, std::int64_t index) {
  const std::int64_t base = units / tasks;
  const std::int64_t extra = units % tasks;
  const std::int64_t begin = index * base + std::min(index, extra);
  return {begin, begin + base + (index < extra ? 1 : 0)};
}

/// A range in pieces of at most `size`, in order.
class Batches {
 public:
  Batches(Range all, std::int64_t size) noexcept : all_(all), size_(size) {}

  class Iterator {
   public:
    Iterator(const Batches& of, std::int64_t begin) noexcept : of_(of), begin_(begin) {}
    Range operator*() const noexcept { return {begin_, begin_ + length()}; }
    Iterator& operator++() noexcept {
      begin_ += length();
      return *this;
    }
    bool operator!=(const Iterator& other) const noexcept { return begin_ != other.begin_; }

   private:
    std::int64_t length() const noexcept { return std::min(of_.size_, of_.all_.end - begin_); }
    const Batches& of_;
    std::int64_t begin_;
  };
  [[nodiscard]] Iterator begin() const noexcept { return {*this, all_.begin}; }
  [[nodiscard]] Iterator end() const noexcept { return {*this, std::max(all_.begin, all_.end)}; }

 private:
  Range all_;
  std::int64_t size_;
};

/// Runs task(state, i) for i in [0, count), each in the contract's floating-point environment. A
/// single task runs on the calling thread, without the executor.
template <class State>
void run_tasks(Executor& executor, std::int64_t count, void (*task)(State&, std::int64_t) noexcept,
               State& state) noexcept {
  struct Guarded {
    void (*task)(State&, std::int64_t) noexcept;
    State& state;
    static void call(void* self, std::int64_t index) noexcept {
      const FpEnvironment environment;
      const auto& g = *static_cast<Guarded*>(self);
      g.task(g.state, index);
    }
  };
  Guarded guarded{task, state};
  if (count == 1) {
    Guarded::call(&guarded, 0);
  } else {
    executor.run(count, &Guarded::call, &guarded);
  }
}

}  // namespace equinorm::parallel
