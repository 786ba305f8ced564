#include "row_sums.h"

#include <algorithm>

namespace equinorm::parallel {

/// 4 ceil(rows / 4096) blocks each, at most 128 chunks.
RowSums::Chunks::Chunks(std::int64_t rows) noexcept {
  if (rows == 0) return;
  rows_each = 4 * kBlockRows * ((rows - 1) / 4096 + 1);
  count = (rows - 1) / rows_each + 1;
}

void RowSums::plan(std::int64_t bytes, int concurrency) noexcept {
  chunks_ = Chunks(rows);
  groups_in_parallel_ = groups >= std::max(concurrency, 2);
  if (groups_in_parallel_) {
    tasks_ = count_tasks(groups, bytes, concurrency);
  } else if (groups > 0) {
    tasks_ = count_tasks(chunks_.count, bytes / groups, concurrency);
  }
}

std::int64_t RowSums::sum_elements() const noexcept {
  std::int64_t parts = 0;
  for (int k = 0; k < kParts; ++k) parts = wanted[k] ? k + 1 : parts;
  return parts * part_elements;
}

std::int64_t RowSums::buffers() const noexcept {
  return groups_in_parallel_ || tasks_ < 2 ? tasks_ : chunks_.count;
}

std::int64_t RowSums::workspace() const noexcept {
  return sum_elements() * (buffers() + (groups_in_parallel_ ? tasks_ : 1));
}

void RowSums::clear(double* sums) const noexcept {
  for (int k = 0; k < kParts; ++k) {
    if (wanted[k]) std::fill_n(sums + k * part_elements, size, 0.0);
  }
}

void RowSums::add_to(double* total, const double* sums) const noexcept {
  for (int k = 0; k < kParts; ++k) {
    double* to = total + k * part_elements;
    const double* from = sums + k * part_elements;
    for (std::int64_t i = 0; wanted[k] && i < size; ++i) to[i] += from[i];
  }
}

void RowSums::ready_rows(Range some, std::int64_t task, const RowWork& work) const noexcept {
  with_rows == nullptr ? work(state) : with_rows(state, some, task, work);
}

/// `ready` null: the chunk's rows are not ready yet.
void RowSums::add_chunk(std::int64_t group, std::int64_t chunk, double* sums, std::int64_t task,
                        void* ready) const noexcept {
  const std::int64_t first = group * rows;
  const std::int64_t begin = first + chunk * chunks_.rows_each;
  const std::int64_t end = std::min(begin + chunks_.rows_each, first + rows);
  clear(sums);
  if (ready != nullptr) return add_rows(ready, {begin, end}, sums, task);
  for (const Range batch : Batches({begin, end}, batch_rows)) {
    ready_rows(batch, task, RowWork([&](void* now) { add_rows(now, batch, sums, task); }));
  }
}

/// A share of the chunks of one sum. The first task needs one buffer: it adds each of its chunks to
/// the total right away.
void RowSums::chunks_task(RowSums& self, std::int64_t index) noexcept {
  const Range chunks = share(self.chunks_.count, self.tasks_, index);
  for (std::int64_t chunk = chunks.begin; chunk < chunks.end; ++chunk) {
    double* sums = self.chunk_sums_ + (index == 0 ? 0 : chunk) * self.sum_elements();
    self.add_chunk(self.group_, chunk, sums, index, nullptr);
    if (index == 0) self.add_to(self.totals_, sums);
  }
}

/// Groups, each with all its chunks.
void RowSums::add_groups(Range some, std::int64_t task, void* ready) const noexcept {
  double* total = totals_ + task * sum_elements();
  double* sums = chunk_sums_ + task * sum_elements();
  for (std::int64_t group = some.begin; group < some.end; ++group) {
    clear(total);
    for (std::int64_t chunk = 0; chunk < chunks_.count; ++chunk) {
      add_chunk(group, chunk, sums, task, ready);
      add_to(total, sums);
    }
    store(state, group, total);
  }
}

/// A share of the groups. Small ones are made ready together.
void RowSums::groups_task(RowSums& self, std::int64_t index) noexcept {
  const Range all = share(self.groups, self.tasks_, index);
  const std::int64_t each = self.rows;
  if (each == 0 || each > self.batch_rows) return self.add_groups(all, index, nullptr);
  for (const Range some : Batches(all, self.batch_rows / each)) {
    self.ready_rows({some.begin * each, some.end * each}, index,
                    RowWork([&](void* ready) { self.add_groups(some, index, ready); }));
  }
}

/// One group after the other, each in parallel.
void RowSums::run_groups(Executor& executor) noexcept {
  for (group_ = 0; group_ < groups; ++group_) {
    clear(totals_);
    run_tasks(executor, tasks_, &chunks_task, *this);
    const FpEnvironment environment;
    const std::int64_t first = share(chunks_.count, tasks_, 0).end;
    for (std::int64_t chunk = first; chunk < chunks_.count; ++chunk) {
      add_to(totals_, chunk_sums_ + chunk * sum_elements());
    }
    store(state, group_, totals_);
  }
}

void RowSums::run(Executor& executor, double* workspace) noexcept {
  totals_ = workspace;
  chunk_sums_ = workspace + sum_elements() * (groups_in_parallel_ ? tasks_ : 1);
  if (groups_in_parallel_) {
    run_tasks(executor, tasks_, &groups_task, *this);
  } else {
    run_groups(executor);
  }
}

}  // namespace equinorm::parallel
