// Which views of a call pass through tiles, and the tiles of one range of rows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/tile.h"
#include "parallel/split.h"

namespace equinorm {

/// Sizes of the tiles that a task needs at one time, one for each view.
class TilePlan {
 public:
  TilePlan() = default;
  explicit TilePlan(std::int64_t cols) noexcept
      : cols_(cols), stride_(kernels::Scratch::padded(cols) + 16) {}

  /// Counts a kernels::In or Out.
  template <class View>
  void add(const View& view) noexcept {
    if (view.data == nullptr || !kernels::needs_tile(view.layout, cols_)) return;
    rows_ = std::max(rows_, kernels::tile_rows(view.layout, view.type, cols_));
    element_size_ = std::max(element_size_, kernels::element_size(view.type));
    ++views_;
  }

  [[nodiscard]] bool needed() const noexcept { return views_ > 0; }
  /// Rows of memory that a task needs, and their elements of f64.
  [[nodiscard]] std::int64_t memory_rows() const noexcept { return views_ * memory_rows_each(); }
  [[nodiscard]] std::int64_t row_elements() const noexcept { return stride_; }

  /// The memory of one of the tiles, after which that of the next begins.
  kernels::TileMemory take(double*& memory) const noexcept {
    double* tile = memory;
    memory += memory_rows_each() * stride_;
    return {tile, cols_, stride_};
  }
  [[nodiscard]] std::int64_t cols() const noexcept { return cols_; }

  /// Rows of one tile; any number where none is needed.
  [[nodiscard]] std::int64_t rows() const noexcept { return needed() ? rows_ : INT64_MAX; }

 private:
  [[nodiscard]] std::int64_t memory_rows_each() const noexcept { return rows_ * element_size_ / 8; }

  std::int64_t cols_ = 0;
  std::int64_t stride_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t element_size_ = 0;
  std::int64_t views_ = 0;
};

/// The tiles of some rows in a task's memory. Views that need none stay as they are.
class Tiles {
 public:
  Tiles(const TilePlan& plan, parallel::Range rows, double* memory) noexcept
      : plan_(plan), rows_(rows), next_(memory) {}

  kernels::In read(const kernels::In& view) noexcept {
    if (!needs_tile(view)) return view;
    return kernels::copy_to_tile(view, rows_.begin, rows_.end, plan_.take(next_));
  }
  /// Where to write them; the view has them after write().
  kernels::Out place(const kernels::Out& view) noexcept {
    return needs_tile(view) ? kernels::place_in_tile(view, rows_.begin, plan_.take(next_)) : view;
  }
  void write(const kernels::Out& tile, const kernels::Out& view) const noexcept {
    if (needs_tile(view)) {
      kernels::copy_from_tile(tile, rows_.begin, rows_.end, plan_.cols(), view);
    }
  }

 private:
  template <class View>
  [[nodiscard]] bool needs_tile(const View& view) const noexcept {
    return view.data != nullptr && kernels::needs_tile(view.layout, plan_.cols());
  }

  const TilePlan& plan_;
  parallel::Range rows_;
  double* next_;
};

}  // namespace equinorm
