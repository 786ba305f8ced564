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

/// Rows of f64, counted first and handed out after one reservation.
class RowCounter {
 public:
  explicit RowCounter(std::int64_t row_elements) noexcept : row_elements_(row_elements) {}

  /// Index of the first of `rows` more rows.
  std::int64_t add(std::int64_t rows) noexcept {
    const std::int64_t first = rows_;
    if (__builtin_add_overflow(rows_, rows, &rows_)) overflow_ = true;
    return first;
  }

  /// Null when there is no memory for the rows.
  double* reserve(Context& context) const noexcept;
  /// What to return then.
  [[nodiscard]] Status out_of_memory() const noexcept;

 private:
  std::int64_t row_elements_;
  std::int64_t rows_ = 0;
  bool overflow_ = false;
};

}  // namespace equinorm
