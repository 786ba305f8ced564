// Tiles: some neighbouring rows whose columns lie apart, copied to where they lie together.
//
// Such rows often share cache lines, each an element per row: a tile of as many rows as a line has
// elements reads every line once. The trap: a tile copies bits and knows nothing of numbers.
#pragma once

#include "kernel_types.h"

namespace equinorm::kernels {

/// Kernels are given rows whose runs are contiguous. Other rows pass through a tile.
inline bool needs_tile(const Layout& layout, std::int64_t cols) {
  return layout.index != nullptr || (layout.column_stride != 1 && cols > 1);
}

constexpr std::int64_t element_size(Type type) {
  return type == Type::f64 ? 8 : type == Type::f32 ? 4 : 2;
}

/// Rows of a tile, whole blocks: the elements of one to four neighbouring cache lines, as long as
/// the tile is not too large for a cache.
std::int64_t tile_rows(const Layout& layout, Type type, std::int64_t cols);
inline constexpr std::int64_t kMaxTileRows = 128;

/// Where a tile is: its rows of `cols` elements begin `stride` apart. A stride that is no multiple
/// of a memory page keeps the rows from competing for the same places of a cache.
struct TileMemory {
  void* data = nullptr;
  std::int64_t cols = 0;
  std::int64_t stride = 0;
};

/// Rows [begin, end) of `rows`, copied. The result stands for `rows` as far as these go.
In copy_to_tile(const In& rows, std::int64_t begin, std::int64_t end, const TileMemory& tile);

/// Room for the same rows of an output. Nothing is copied before copy_from_tile is called with the
/// result.
Out place_in_tile(const Out& rows, std::int64_t begin, const TileMemory& tile);
void copy_from_tile(const Out& tile, std::int64_t begin, std::int64_t end, std::int64_t cols,
                    const Out& rows);

}  // namespace equinorm::kernels
