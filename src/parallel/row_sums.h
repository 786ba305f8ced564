// Sums over rows that no thread count changes: chunks of whole blocks of rows, added up in order
// (docs/numerics.md section 5).
//
// The trap: chunks depend on the number of rows alone, tasks on the threads. A task owns whole
// chunks, or whole groups where each group has a sum of its own.
#pragma once

#include <cstdint>

#include "equinorm/context.hpp"
#include "split.h"

namespace equinorm::parallel {

/// What remains to be done with rows that have been made ready.
class RowWork {
 public:
  template <class Body>
  explicit RowWork(const Body& body) noexcept
      : body_(&body),
        call_([](const void* b, void* ready) { (*static_cast<const Body*>(b))(ready); }) {}
  void operator()(void* ready) const noexcept { call_(body_, ready); }

 private:
  const void* body_;
  void (*call_)(const void* body, void* ready);
};

class RowSums {
 public:
  static constexpr int kParts = 3;
  static constexpr std::int64_t kBlockRows = 8;

  std::int64_t rows = 0;           ///< of each group
  std::int64_t groups = 1;         ///< a sum for each
  std::int64_t size = 0;           ///< elements of a part
  std::int64_t part_elements = 0;  ///< from part to part, at least size
  bool wanted[kParts] = {};
  void* state = nullptr;
  /// Makes at most batch_rows rows ready and calls work(ready) once. Null: state is always ready.
  void (*with_rows)(void* state, Range rows, std::int64_t task,
                    const RowWork& work) noexcept = nullptr;
  std::int64_t batch_rows = INT64_MAX;
  /// Adds rows that are ready to `sums`, whose parts lie part_elements apart.
  void (*add_rows)(void* ready, Range rows, double* sums, std::int64_t task) noexcept = nullptr;
  /// Takes the sums of a group.
  void (*store)(void* state, std::int64_t group, double* sums) noexcept = nullptr;

  /// Splits work that moves `bytes`; sets tasks().
  void plan(std::int64_t bytes, int concurrency) noexcept;
  [[nodiscard]] std::int64_t tasks() const noexcept { return tasks_; }
  /// Elements of f64 that run() needs.
  [[nodiscard]] std::int64_t workspace() const noexcept;
  void run(Executor& executor, double* workspace) noexcept;

 private:
  struct Chunks {
    std::int64_t rows_each = 0;
    std::int64_t count = 0;
    explicit Chunks(std::int64_t rows) noexcept;
  };

  static void chunks_task(RowSums& self, std::int64_t index) noexcept;
  static void groups_task(RowSums& self, std::int64_t index) noexcept;
  void run_groups(Executor& executor) noexcept;
  void ready_rows(Range some, std::int64_t task, const RowWork& work) const noexcept;
  void add_groups(Range some, std::int64_t task, void* ready) const noexcept;
  void add_chunk(std::int64_t group, std::int64_t chunk, double* sums, std::int64_t task,
                 void* ready) const noexcept;
  void clear(double* sums) const noexcept;
  void add_to(double* total, const double* sums) const noexcept;
  [[nodiscard]] std::int64_t sum_elements() const noexcept;
  [[nodiscard]] std::int64_t buffers() const noexcept;

  std::int64_t tasks_ = 1;
  bool groups_in_parallel_ = false;
  Chunks chunks_{0};
  std::int64_t group_ = 0;        ///< whose chunks are being added
  double* totals_ = nullptr;      ///< one, or for groups in parallel one per task
  double* chunk_sums_ = nullptr;  ///< buffers()
};

}  // namespace equinorm::parallel
