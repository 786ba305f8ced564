#include "tile.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

namespace equinorm::kernels {
namespace {

constexpr std::int64_t kColumns = 8;  // of a block: it stays in the L1 cache
constexpr std::int64_t kAhead = 16;   // columns from those at work to those to fetch

/// Four words of 32 bits, or as many others.
template <class T>
inline constexpr int kWords = 16 / sizeof(T);
template <class T>
using Vector [[gnu::vector_size(16)]] = T;

template <class T, int... i>
void zip(Vector<T> low, Vector<T> high, Vector<T>* to, std::integer_sequence<int, i...>) {
  constexpr int n = sizeof...(i);
  to[0] = __builtin_shufflevector(low, high, (i % 2 * n + i / 2)...);
  to[1] = __builtin_shufflevector(low, high, (i % 2 * n + n / 2 + i / 2)...);
}

/// Element (i, k) becomes element (k, i).
template <class T>
void transpose(Vector<T> (&v)[kWords<T>]) {
  constexpr int n = kWords<T>;
  for (int round = 1; round < n; round *= 2) {
    Vector<T> zipped[n];
    for (int i = 0; i < n / 2; ++i) {
      zip<T>(v[i], v[i + n / 2], zipped + 2 * i, std::make_integer_sequence<int, n>());
    }
    std::copy_n(zipped, n, v);
  }
}

/// Lines of elements that lie apart in the rows and together in the tile: line k begins `near`
/// elements behind line k - 1 in the rows, `apart` in the tile.
template <class T>
struct Lines {
  T* rows;
  std::int64_t near;
  T* tile;
  std::int64_t apart;
  std::int64_t count;
  std::int64_t ahead;  ///< from a column to one that comes later
};

/// A direction: what happens to an element of the rows and its copy in the tile.
struct ToTile {
  static void fetch(const void* row) { __builtin_prefetch(row); }
  template <class T>
  static void element(const T& row, T& tile) {
    tile = row;
  }
  /// Elements of kWords lines: at[c] of line 0 is where column c begins.
  template <class T>
  static void square(T* rows, const std::int64_t* at, T* tile, std::int64_t apart) {
    Vector<T> v[kWords<T>];
    for (int c = 0; c < kWords<T>; ++c) std::memcpy(&v[c], rows + at[c], sizeof v[c]);
    transpose<T>(v);
    for (int k = 0; k < kWords<T>; ++k) std::memcpy(tile + k * apart, &v[k], sizeof v[k]);
  }
};
struct FromTile {
  static void fetch(const void* row) { __builtin_prefetch(row, 1); }
  template <class T>
  static void element(T& row, const T& tile) {
    row = tile;
  }
  template <class T>
  static void square(T* rows, const std::int64_t* at, T* tile, std::int64_t apart) {
    Vector<T> v[kWords<T>];
    for (int k = 0; k < kWords<T>; ++k) std::memcpy(&v[k], tile + k * apart, sizeof v[k]);
    transpose<T>(v);
    for (int c = 0; c < kWords<T>; ++c) std::memcpy(rows + at[c], &v[c], sizeof v[c]);
  }
};

/// Moves `columns` elements of each line; column c of a line lies at[c] behind its beginning.
template <class Direction, class T>
void move_lines(const Lines<T>& lines, const std::int64_t* at, std::int64_t columns) {
  constexpr std::int64_t n = kWords<T>;
  const auto elements = [&](std::int64_t k, std::int64_t first) {
    for (std::int64_t c = first; c < columns; ++c) {
      Direction::element(lines.rows[k * lines.near + at[c]], lines.tile[k * lines.apart + c]);
    }
  };
  for (std::int64_t i = 0; lines.near == 1 && i < lines.count; i += 64 / sizeof(T)) {
    for (std::int64_t c = 0; c < columns; ++c) {
      Direction::fetch(lines.rows + i + at[c] + lines.ahead);
    }
  }
  std::int64_t k = 0;
  for (; lines.near == 1 && k + n <= lines.count; k += n) {
    std::int64_t c = 0;
    for (; c + n <= columns; c += n) {
      Direction::square(lines.rows + k, at + c, lines.tile + k * lines.apart + c, lines.apart);
    }
    for (std::int64_t i = k; c < columns && i < k + n; ++i) elements(i, c);
  }
  for (; k < lines.count; ++k) elements(k, 0);
}

/// Columns of one stretch: they lie where `at` says, or column_stride apart.
template <class Body>
void for_each_block(const Layout& layout, std::int64_t columns, Body body) {
  for (std::int64_t first = 0; first < columns; first += kColumns) {
    std::int64_t at[kColumns];
    const std::int64_t count = std::min(kColumns, columns - first);
    for (std::int64_t c = 0; c < count; ++c) at[c] = layout.column(first + c);
    body(first, count, at);
  }
}

/// Rows [begin, end) that lie equally far apart.
struct Even {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t step;
};

/// Divides rows [begin, end) into such; returns how many.
int divide_rows(const Layout& layout, std::int64_t begin, std::int64_t end, Even* parts) {
  int count = 0;
  for (std::int64_t r = begin; r < end; r = parts[count++].end) {
    const std::int64_t step = r + 1 < end ? layout.row(r + 1) - layout.row(r) : 1;
    std::int64_t next = r + 1;
    while (next < end && layout.row(next) - layout.row(next - 1) == step) ++next;
    parts[count] = {r, next, step};
  }
  return count;
}

/// Runs whose elements lie among those of the run before.
bool has_near_runs(const Layout& layout, std::int64_t cols) {
  return layout.index == nullptr && layout.run < cols &&
         std::abs(layout.run_stride) < std::abs(layout.column_stride);
}

template <class Direction, class T>
void move_tile(T* rows, const Layout& layout, std::int64_t begin, std::int64_t end,
               std::int64_t cols, T* tile, std::int64_t stride) {
  const std::int64_t run = layout.index != nullptr ? cols : std::min(layout.run, cols);
  const std::int64_t runs = cols / run;  // whole ones
  const std::int64_t rest = cols % run;
  const std::int64_t ahead = layout.index != nullptr ? 0 : kAhead * layout.column_stride;
  const auto tile_row = [&](std::int64_t r) { return tile + (r - begin) * stride; };
  if (has_near_runs(layout, cols)) {
    for_each_block(layout, run, [&](std::int64_t c, std::int64_t count, const std::int64_t* at) {
      for (std::int64_t r = begin; r < end; ++r) {
        Lines<T> lines{rows + layout.row(r), layout.run_stride, tile_row(r) + c, run, runs, ahead};
        move_lines<Direction>(lines, at, count);
        if (c >= rest) continue;
        lines.rows += runs * layout.run_stride;
        lines.tile += runs * run;
        lines.count = 1;
        move_lines<Direction>(lines, at, std::min(count, rest - c));
      }
    });
    return;
  }
  Even parts[kMaxTileRows];
  const int count_of_parts = divide_rows(layout, begin, end, parts);
  for (std::int64_t j = 0; j * run < cols; ++j) {
    for_each_block(
        layout, j < runs ? run : rest,
        [&](std::int64_t c, std::int64_t count, const std::int64_t* at) {
          for (const Even& part : std::span(parts, count_of_parts)) {
            move_lines<Direction>(
                Lines<T>{rows + layout.row(part.begin) + j * layout.run_stride, part.step,
                         tile_row(part.begin) + j * run + c, stride, part.end - part.begin, ahead},
                at, count);
          }
        });
  }
}

/// Calls body(p) with `p` as a pointer to words of the size of `type`.
template <class Body>
void with_words(void* p, Type type, Body body) {
  switch (element_size(type)) {
    case 8:
      return body(static_cast<std::uint64_t*>(p));
    case 4:
      return body(static_cast<std::uint32_t*>(p));
    default:
      return body(static_cast<std::uint16_t*>(p));
  }
}

Layout tile_layout(const Layout& rows, std::int64_t begin, const TileMemory& tile) {
  Layout layout;
  layout.origin = begin * tile.stride;
  layout.group_rows = rows.group_rows;
  layout.group_stride = rows.group_rows * tile.stride;
  layout.row_stride = tile.stride;
  layout.run = tile.cols;
  return layout;
}

}  // namespace

std::int64_t tile_rows(const Layout& layout, Type type, std::int64_t cols) {
  constexpr std::int64_t kBytes = 1 << 20;
  const std::int64_t line = 64 / element_size(type);
  const std::int64_t neighbours =
      std::clamp(kBytes / element_size(type) / std::max<std::int64_t>(cols, 1), line, 4 * line);
  const std::int64_t in_a_row = has_near_runs(layout, cols) ? cols / layout.run : 1;
  return std::max(neighbours / in_a_row / kBlockRows, std::int64_t{1}) * kBlockRows;
}

In copy_to_tile(const In& rows, std::int64_t begin, std::int64_t end, const TileMemory& tile) {
  with_words(tile.data, rows.type, [&]<class T>(T* to) {
    // The rows are only read.
    T* from = static_cast<T*>(const_cast<void*>(rows.data));
    move_tile<ToTile>(from, rows.layout, begin, end, tile.cols, to, tile.stride);
  });
  return {tile.data, rows.type, tile_layout(rows.layout, begin, tile)};
}

Out place_in_tile(const Out& rows, std::int64_t begin, const TileMemory& tile) {
  return {tile.data, rows.type, tile_layout(rows.layout, begin, tile)};
}

void copy_from_tile(const Out& tile, std::int64_t begin, std::int64_t end, std::int64_t cols,
                    const Out& rows) {
  with_words(tile.data, tile.type, [&]<class T>(T* from) {
    move_tile<FromTile>(static_cast<T*>(rows.data), rows.layout, begin, end, cols, from,
                        tile.layout.row_stride);
  });
}

}  // namespace equinorm::kernels
