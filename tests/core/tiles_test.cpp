// Tiles: rows whose columns lie apart are copied to where they lie together and back, bit for bit
// and nothing else, whatever their sizes, strides, groups, runs and masks; and operators give such
// rows the bits of packed ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "equinorm/grouped_norm.hpp"
#include "kernels/tile.h"

namespace equinorm {
namespace {

using kernels::In;
using kernels::Layout;
using kernels::Out;
using kernels::TileMemory;
using kernels::Type;

// Both sides of vectors (2 to 8 elements), blocks of columns (8), cache lines (8 to 32) and tiles.
constexpr std::int64_t kSizes[] = {1,  2,  3,  4,  5,  7,  8,   9,   15, 16,
                                   17, 31, 33, 63, 64, 65, 127, 128, 129};

struct Shape {
  std::int64_t rows, cols;
  std::int64_t group_rows, run;
};

// How elements follow each other in memory, fastest first: 0 groups, 1 rows, 2 runs, 3 columns.
using Order = std::array<int, 4>;

// Where elements lie, found without the layout's own arithmetic.
struct Rows2d {
  Layout layout;
  std::vector<std::int64_t> at;  ///< of (row, column), row by row
  std::int64_t elements = 0;
};

Rows2d arranged(const Shape& s, const Order& order, std::int64_t gap, int reversed_axes) {
  const std::int64_t counts[] = {(s.rows + s.group_rows - 1) / s.group_rows, s.group_rows,
                                 (s.cols + s.run - 1) / s.run, s.run};
  std::int64_t strides[4], first = 0, span = 1;
  for (const int axis : order) {
    strides[axis] = span;
    span = span * counts[axis] + gap;
    if ((reversed_axes >> axis & 1) == 0) continue;
    first += (counts[axis] - 1) * strides[axis];
    strides[axis] = -strides[axis];
  }
  Rows2d result;
  result.elements = span;
  for (std::int64_t r = 0; r < s.rows; ++r) {
    for (std::int64_t c = 0; c < s.cols; ++c) {
      result.at.push_back(first + r / s.group_rows * strides[0] + r % s.group_rows * strides[1] +
                          c / s.run * strides[2] + c % s.run * strides[3]);
    }
  }
  // Data begins at element 0 of a buffer here.
  result.layout = {-first, s.group_rows, strides[0], strides[1], s.run, strides[2], strides[3], {}};
  return result;
}

template <class T>
constexpr Type kType = sizeof(T) == 8   ? Type::f64
                       : sizeof(T) == 4 ? Type::f32
                                        : Type::bf16;

constexpr std::int64_t kBeside = 64;

template <class T>
std::vector<T> numbers(std::int64_t count) {
  std::vector<T> v(static_cast<std::size_t>(count));
  std::uint64_t k = 1;
  for (T& x : v) x = static_cast<T>(k++ * 0x9e3779b97f4a7c15 >> (64 - 8 * sizeof(T)));
  return v;
}

/// Copies rows [begin, end) to a tile and back to where `to` says.
template <class T>
void expect_copies(const Rows2d& rows, std::int64_t cols, std::int64_t begin, std::int64_t end) {
  const auto size = static_cast<std::int64_t>(rows.elements);
  const std::vector<T> from = numbers<T>(size + 2 * kBeside);
  const std::int64_t stride = cols + 3;
  constexpr T kUntouched = static_cast<T>(0x5a5a5a5a5a5a5a5a);
  std::vector<T> tile(static_cast<std::size_t>((end - begin) * stride), kUntouched);
  const TileMemory memory{tile.data(), cols, stride};
  const In in =
      kernels::copy_to_tile({from.data() + kBeside, kType<T>, rows.layout}, begin, end, memory);
  std::vector<T> want(tile.size(), kUntouched);
  for (std::int64_t r = begin; r < end; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) {
      const T element = from[kBeside + rows.at[r * cols + c]];
      want[(r - begin) * stride + c] = element;
      // What the kernels see.
      ASSERT_EQ(static_cast<const T*>(in.data)[in.layout.row(r) + in.layout.column(c)], element)
          << r << ' ' << c;
    }
  }
  ASSERT_EQ(tile, want);
  std::vector<T> back(from.size(), kUntouched), want_back(back);
  const Out out{back.data() + kBeside, kType<T>, rows.layout};
  kernels::copy_from_tile(kernels::place_in_tile(out, begin, memory), begin, end, cols, out);
  for (std::int64_t i = begin * cols; i < end * cols; ++i) {
    want_back[kBeside + rows.at[i]] = from[kBeside + rows.at[i]];
  }
  ASSERT_EQ(back, want_back);
}

template <class T>
void expect_copies_in_every_order(const Shape& shape, int turn) {
  Order order = {0, 1, 2, 3};
  do {
    const Rows2d rows = arranged(shape, order, turn % 3, turn / 3 % 16);
    ++turn;
    const std::int64_t all = std::min(shape.rows, kernels::kMaxTileRows);
    ASSERT_NO_FATAL_FAILURE(expect_copies<T>(rows, shape.cols, 0, all));
    const std::int64_t begin = std::min<std::int64_t>(8, shape.rows - 1);
    const std::int64_t end = std::min(shape.rows, begin + kernels::kMaxTileRows);
    ASSERT_NO_FATAL_FAILURE(expect_copies<T>(rows, shape.cols, begin, end));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Tile, HoldsTheElementsOfItsRowsForEverySizeAndOrder) {
  int turn = 0;
  for (const std::int64_t rows : kSizes) {
    for (const std::int64_t cols : kSizes) {
      SCOPED_TRACE(testing::Message() << rows << " x " << cols);
      ++turn;
      const Shape shape{rows, cols, rows, cols};
      switch (turn % 3) {
        case 0:
          ASSERT_NO_FATAL_FAILURE(expect_copies_in_every_order<std::uint16_t>(shape, turn));
          break;
        case 1:
          ASSERT_NO_FATAL_FAILURE(expect_copies_in_every_order<std::uint32_t>(shape, turn));
          break;
        default:
          ASSERT_NO_FATAL_FAILURE(expect_copies_in_every_order<std::uint64_t>(shape, turn));
      }
    }
  }
}

TEST(Tile, HoldsRowsOfSeveralGroupsAndRuns) {
  int turn = 0;
  for (const Shape& shape :
       {Shape{9, 12, 3, 4}, Shape{20, 35, 7, 5}, Shape{64, 66, 5, 33}, Shape{17, 128, 1, 2},
        Shape{130, 8, 13, 1}, Shape{33, 99, 16, 9}, Shape{8, 16, 8, 16}, Shape{5, 1, 2, 1},
        // The last run is not whole.
        Shape{9, 11, 3, 4}, Shape{20, 33, 7, 5}, Shape{64, 50, 5, 33}, Shape{7, 3, 2, 2}}) {
    ++turn;
    SCOPED_TRACE(turn);
    ASSERT_NO_FATAL_FAILURE(expect_copies_in_every_order<std::uint16_t>(shape, turn));
    ASSERT_NO_FATAL_FAILURE(expect_copies_in_every_order<std::uint32_t>(shape, turn + 5));
    ASSERT_NO_FATAL_FAILURE(expect_copies_in_every_order<std::uint64_t>(shape, turn + 11));
  }
}

TEST(Tile, HoldsTheColumnsThatAnIndexNames) {
  for (const Shape& shape : {Shape{5, 40, 5, 8}, Shape{33, 60, 1, 60}, Shape{9, 17, 3, 1}}) {
    for (const Order& order : {Order{3, 2, 1, 0}, Order{1, 3, 2, 0}, Order{2, 0, 3, 1}}) {
      Rows2d rows = arranged(shape, order, 1, 0);
      std::vector<std::int64_t> kept, at;
      for (std::int64_t c = 0; c < shape.cols; ++c) {
        if (c * 7 % 5 < 3) kept.push_back(c);
      }
      for (std::int64_t r = 0; r < shape.rows; ++r) {
        for (const std::int64_t c : kept) at.push_back(rows.at[r * shape.cols + c]);
      }
      rows.at = at;
      rows.layout.index = kept.data();
      ASSERT_NO_FATAL_FAILURE(expect_copies<std::uint16_t>(rows, std::ssize(kept), 0, shape.rows));
      ASSERT_NO_FATAL_FAILURE(expect_copies<std::uint32_t>(rows, std::ssize(kept), 0, shape.rows));
      ASSERT_NO_FATAL_FAILURE(expect_copies<std::uint64_t>(rows, std::ssize(kept), 0, shape.rows));
    }
  }
}

TEST(Tile, HasNoMoreRowsThanItsMemoryIsPlannedFor) {
  for (const std::int64_t cols : {1, 2, 7, 64, 1000, 100000, 10000000}) {
    for (const std::int64_t run : {std::int64_t{1}, std::max<std::int64_t>(cols / 2, 1), cols}) {
      for (const Type type : {Type::f64, Type::f32, Type::f16, Type::bf16}) {
        for (const std::int64_t run_stride : {std::int64_t{1}, cols}) {
          const Layout layout{0, 1, 0, 1, run, run_stride, 3, nullptr};
          const std::int64_t rows = kernels::tile_rows(layout, type, cols);
          EXPECT_EQ(rows % kernels::kBlockRows, 0);
          EXPECT_GE(rows, kernels::kBlockRows);
          EXPECT_LE(rows, kernels::kMaxTileRows);
        }
      }
    }
  }
}

// Bytes of y, dx, dgamma and dbeta of rows of f32 (or 2 or 8 bytes) that lie as `at` says, each
// row packed in the result.
struct Outcome {
  std::vector<std::uint8_t> y, dx;
  std::vector<double> sums;
  bool operator==(const Outcome&) const = default;
};

struct Placed {
  Arrangement at;
  bool in_place;
  int threads;
};

std::int64_t place(const Arrangement& at, std::int64_t i) {
  const std::int64_t c = i % at.cols, r = i / at.cols % at.rows, g = i / at.cols / at.rows;
  return g * at.group_stride + r * at.row_stride + c * at.column_stride;
}

Outcome outcome_of(const std::vector<std::uint8_t>& x, const std::vector<std::uint8_t>& dy,
                   DType type, const Placed& placed) {
  const Arrangement& at = placed.at;
  const std::int64_t size = static_cast<std::int64_t>(size_of(type));
  const std::int64_t count = at.groups * at.rows * at.cols;
  const std::int64_t span = place(at, count - 1) + 1;
  const auto put = [&](const std::vector<std::uint8_t>& packed) {
    std::vector<std::uint8_t> v(static_cast<std::size_t>(span * size), 0xff);
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(v.data() + place(at, i) * size, packed.data() + i * size, size);
    }
    return v;
  };
  const auto take = [&](const std::vector<std::uint8_t>& v) {
    std::vector<std::uint8_t> packed(static_cast<std::size_t>(count * size));
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(packed.data() + i * size, v.data() + place(at, i) * size, size);
    }
    return packed;
  };
  std::vector<std::uint8_t> input = put(x), gradient = put(dy), room(input.size(), 0xff);
  Outcome result;
  const std::int64_t sums = at.groups * at.cols;
  result.sums.resize(static_cast<std::size_t>(2 * sums));
  Context context;
  check(context.set_threads(placed.threads));
  GroupedNormBackward b;
  b.dy = {gradient.data(), type, at};
  b.x = {input.data(), type, at};
  b.dx = {placed.in_place ? gradient.data() : room.data(), type, at};
  b.dgamma = {result.sums.data(), DType::f64, at.cols, at.cols};
  b.dbeta = {result.sums.data() + sums, DType::f64, at.cols, at.cols};
  check(grouped_norm_backward(b, context));
  result.dx = take(placed.in_place ? gradient : room);
  GroupedNormForward f;
  f.x = {input.data(), type, at};
  f.y = {placed.in_place ? input.data() : room.data(), type, at};
  check(grouped_norm_forward(f, context));
  result.y = take(placed.in_place ? input : room);
  return result;
}

// Numbers near 1 of any type, as bytes.
std::vector<std::uint8_t> values_of(DType type, std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> v;
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint64_t bits = random() >> 12 | 0x3ff0000000000000;
    if (type == DType::f32) bits = random() >> 41 | 0x3f800000;
    if (type == DType::f16) bits = random() >> 54 | 0x3c00;
    if (type == DType::bf16) bits = random() >> 57 | 0x3f80;
    bits |= (random() & 1) << (8 * size_of(type) - 1);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&bits);
    v.insert(v.end(), bytes, bytes + size_of(type));
  }
  return v;
}

TEST(RowsInTiles, HaveTheBitsOfPackedRows) {
  constexpr std::int64_t kEdges[] = {1, 3, 4, 7, 9, 16, 33, 63, 65, 128, 130};
  int turn = 0;
  for (const std::int64_t rows : kEdges) {
    for (const std::int64_t cols : kEdges) {
      const auto type = static_cast<DType>(turn % 4);
      const std::int64_t groups = 1 + turn++ % 3;
      const std::int64_t count = groups * rows * cols;
      const auto x = values_of(type, count, turn), dy = values_of(type, count, turn + 1000);
      const Outcome want =
          outcome_of(x, dy, type, {{groups, rows, cols, rows * cols, cols, 1, 0, 0}, false, 1});
      // Rows or groups fastest, columns slowest, or columns between them.
      for (const Arrangement& at :
           {Arrangement{groups, rows, cols, rows * cols, 1, rows, 0, 0},
            Arrangement{groups, rows, cols, rows, 1, rows * groups, 0, 0},
            Arrangement{groups, rows, cols, 1, cols * groups, groups, 0, 0},
            Arrangement{groups, rows, cols, 2 * (rows + 1) * cols, 2, 2 * (rows + 1), 0, 0}}) {
        for (const int threads : {1, 3, 7}) {
          EXPECT_TRUE(outcome_of(x, dy, type, {at, threads == 3, threads}) == want)
              << rows << " x " << cols << " groups " << groups << " threads " << threads
              << " column stride " << at.column_stride;
        }
      }
    }
  }
}

}  // namespace
}  // namespace equinorm
