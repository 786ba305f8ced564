// Which buffers of a call may share memory.
//
// Exact where it matters: rows with one stride (slices of a packed buffer) and single rows are
// compared byte by byte. The trap: rows with different strides whose extents cross, and any other
// arrangement, are taken to overlap even where they interleave without touching.
#pragma once

#include <cstdint>

#include "equinorm/grouped_norm.hpp"
#include "equinorm/status.hpp"
#include "equinorm/types.hpp"

namespace equinorm {

/// Bytes of one argument. Empty ones overlap nothing.
struct Region {
  const char* name = "";
  std::uintptr_t base = 0;
  std::int64_t rows = 0;
  std::int64_t step = 0;   ///< bytes from row to row
  std::int64_t width = 0;  ///< bytes of a row

  Region() = default;
  Region(const char* argument, const ConstGroupedRows& view) noexcept;
  Region(const char* argument, const ConstGroupedVector& view, std::int64_t groups) noexcept;
  Region(const char* argument, const ConstVector& view) noexcept;
  Region(const char* argument, const std::uint8_t* flags, std::int64_t count) noexcept;

  [[nodiscard]] bool empty() const noexcept { return rows == 0 || width == 0; }
};

bool overlap(const Region& a, const Region& b) noexcept;

/// The same bytes in the same order.
bool identical(const ConstGroupedRows& a, const ConstGroupedRows& b) noexcept;

/// The arguments of a call, outputs first checked against everything.
class Regions {
 public:
  void add_input(const Region& region) noexcept { add(region, false); }
  void add_output(const Region& region) noexcept { add(region, true); }
  /// An output may be this input itself.
  void allow(const char* output, const char* input) noexcept;

  /// Names the first output that overlaps what it may not.
  [[nodiscard]] Status check() const noexcept;

 private:
  static constexpr int kMost = 20;
  void add(const Region& region, bool output) noexcept;
  [[nodiscard]] bool allowed(const Region& output, const Region& input) const noexcept;

  Region regions_[kMost];
  bool output_[kMost] = {};
  int count_ = 0;
  struct {
    const char* output;
    const char* input;
  } allowed_[4];
  int allowed_count_ = 0;
};

}  // namespace equinorm
