// Memory of the call in progress, kept by its Context from call to call.
//
// The trap: reserve() invalidates what the previous call placed here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "equinorm/context.hpp"

namespace equinorm {

class Workspace {
 public:
  Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  /// At least `bytes`, aligned to a cache line, contents undefined. Null when there is no memory.
  void* reserve(std::size_t bytes) noexcept;

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// What the operators change in a Context.
struct ContextAccess {
  /// Null when there is no memory.
  static Workspace* workspace(Context& context) noexcept;
  static void set_last_isa(Context& context, Isa isa) noexcept { context.last_isa_ = isa; }
};

/// Places for f64 elements, counted first and handed out after one reservation.
class WorkspacePlan {
 public:
  /// `row_elements` to a row, a multiple of 8.
  explicit WorkspacePlan(std::int64_t row_elements) noexcept : row_elements_(row_elements) {}

  /// Offset of `elements` more elements, a multiple of 8.
  std::int64_t add(std::int64_t elements) noexcept {
    const std::int64_t first = size_;
    if (__builtin_add_overflow(size_, elements, &size_)) overflow_ = true;
    return first;
  }
  /// Offset of `rows` more rows.
  std::int64_t add_rows(std::int64_t rows) noexcept { return add_rows(rows, row_elements_); }
  std::int64_t add_rows(std::int64_t rows, std::int64_t row_elements) noexcept {
    std::int64_t elements = 0;
    if (__builtin_mul_overflow(rows, row_elements, &elements)) overflow_ = true;
    return add(elements);
  }

  [[nodiscard]] bool empty() const noexcept { return size_ == 0 && !overflow_; }
  /// Null when there is no memory for them.
  double* reserve(Context& context) const noexcept;
  /// What to return then.
  [[nodiscard]] Status out_of_memory() const noexcept;

 private:
  std::int64_t row_elements_;
  std::int64_t size_ = 0;
  bool overflow_ = false;
};

}  // namespace equinorm
