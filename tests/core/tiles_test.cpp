// Tiles: every element of every layout arrives, nothing else is touched.
#include "kernels/tile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace equinorm::kernels {
namespace {

/// Rows in groups of `group`, columns in runs of `run`; all axes lie apart in the order given.
struct Shape {
  std::int64_t rows, group, cols, run;
};

struct Memory {
  Layout layout;
  std::int64_t size = 0;  ///< elements, from the first
};

/// Axes 'g' groups, 'r' rows, 'j' runs, 'c' columns of a run, from the slowest to the fastest, with
/// a gap behind the fastest.
Memory make_memory(const Shape& shape, const std::string& order, std::int64_t gap) {
  const std::map<char, std::int64_t> count = {{'g', (shape.rows + shape.group - 1) / shape.group},
                                              {'r', shape.group},
                                              {'j', (shape.cols + shape.run - 1) / shape.run},
                                              {'c', shape.run}};
  std::map<char, std::int64_t> stride;
  std::int64_t next = 1;
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    stride[*axis] = next;
    next *= count.at(*axis);
    if (axis == order.rbegin()) next += gap;
  }
  Memory memory;
  memory.layout.group_rows = shape.group;
  memory.layout.group_stride = stride['g'];
  memory.layout.row_stride = stride['r'];
  memory.layout.run = shape.run;
  memory.layout.run_stride = stride['j'];
  memory.layout.column_stride = stride['c'];
  memory.size = next;
  return memory;
}

template <class Word>
class TileTest : public ::testing::Test {
 protected:
  static constexpr Type kType = sizeof(Word) == 8   ? Type::f64
                                : sizeof(Word) == 4 ? Type::f32
                                                    : Type::bf16;

  /// Rows [begin, end) go to a tile and from there to untouched memory.
  static void check(const Memory& memory, std::int64_t begin, std::int64_t end, std::int64_t cols) {
    std::vector<Word> from(static_cast<std::size_t>(memory.size));
    std::iota(from.begin(), from.end(), Word{1});
    std::vector<Word> to(from.size(), Word{0});
    std::vector<Word> want = to;
    const std::int64_t stride = cols + 3;
    std::vector<Word> tile(static_cast<std::size_t>((end - begin) * stride), Word{0});
    const TileMemory room{tile.data(), cols, stride};
    const In in = copy_to_tile({from.data(), kType, memory.layout}, begin, end, room);
    EXPECT_FALSE(needs_tile(in.layout, cols));
    const auto* tile_data = static_cast<const Word*>(in.data);
    for (std::int64_t r = begin; r < end; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) {
        const std::int64_t at = memory.layout.row(r) + memory.layout.column(c);
        ASSERT_EQ(tile_data[in.layout.row(r) + in.layout.column(c)], from[at]) << r << " " << c;
        want[at] = from[at];
      }
      for (std::int64_t c = cols; c < stride; ++c) ASSERT_EQ(tile[(r - begin) * stride + c], 0);
    }
    const Out view{to.data(), kType, memory.layout};
    const Out place = place_in_tile(view, begin, room);
    EXPECT_EQ(place.layout.row(begin), 0);
    copy_from_tile(place, begin, end, cols, view);
    ASSERT_EQ(to, want);
  }
};

using Words = ::testing::Types<std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(TileTest, Words);

constexpr std::int64_t kCounts[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 17};

TYPED_TEST(TileTest, MovesEveryElementOfEveryLayout) {
  for (std::string order = "cgjr"; std::next_permutation(order.begin(), order.end());) {
    for (const std::int64_t rows : kCounts) {
      for (const std::int64_t cols : kCounts) {
        const std::int64_t run = 1 + (rows + cols) % cols;  // often not a divisor of cols
        const std::int64_t group = 1 + (rows * cols) % rows;
        SCOPED_TRACE(order + " " + std::to_string(rows) + " rows in groups of " +
                     std::to_string(group) + ", " + std::to_string(cols) + " columns in runs of " +
                     std::to_string(run));
        const Memory memory = make_memory({rows, group, cols, run}, order, rows % 3);
        TestFixture::check(memory, rows / 3, rows, cols);
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(TileTest, MovesColumnsByIndex) {
  for (const char* order : {"jcgr", "gjcr", "grjc"}) {
    for (const std::int64_t rows : kCounts) {
      for (const std::int64_t cols : kCounts) {
        Memory memory = make_memory({rows, rows, 2 * cols + 1, cols}, order, 1);
        std::vector<std::int64_t> index;
        for (std::int64_t c = 0; c < cols; ++c) index.push_back(2 * c + c % 2);
        memory.layout.index = index.data();
        TestFixture::check(memory, 0, rows, cols);
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(TileTest, MovesAsManyRowsAsATileHas) {
  for (const std::int64_t cols : {std::int64_t{1}, std::int64_t{33}, std::int64_t{40000}}) {
    const Memory memory = make_memory({kMaxTileRows, kMaxTileRows, cols, cols}, "gjcr", 0);
    const std::int64_t rows = tile_rows(memory.layout, TestFixture::kType, cols);
    EXPECT_EQ(rows % kBlockRows, 0);
    ASSERT_LE(rows, kMaxTileRows);
    TestFixture::check(memory, 0, rows, cols);
  }
}

}  // namespace
}  // namespace equinorm::kernels
