#include "overlap.h"

#include <algorithm>
#include <string_view>

#include "check.h"

namespace equinorm {
namespace {

using Wide = __int128;  // sums of addresses and steps cannot overflow

Wide first_byte(const Region& r) noexcept {
  return static_cast<Wide>(r.base) + std::min<Wide>(0, static_cast<Wide>(r.rows - 1) * r.step);
}

Wide end_byte(const Region& r) noexcept {
  return static_cast<Wide>(r.base) + std::max<Wide>(0, static_cast<Wide>(r.rows - 1) * r.step) +
         r.width;
}

/// The same rows, numbered so that the step is not negative.
Region ascending(Region r) noexcept {
  if (r.step < 0) {
    r.base = static_cast<std::uintptr_t>(first_byte(r));
    r.step = -r.step;
  }
  if (r.rows == 1) r.step = 0;
  return r;
}

Wide floor_divide(Wide a, Wide b) noexcept { return a / b - (a % b < 0 ? 1 : 0); }

/// Row k of `many` and row 0 of `one`, moved by t steps against each other, share a byte where
/// -width(many) < many.base - one.base + t * step < width(one). Some t in [low, high] does?
bool meets(Wide distance, const Region& many, const Region& one, Wide low, Wide high) noexcept {
  if (many.step == 0) return distance > -many.width && distance < one.width;
  const Wide least = floor_divide(-static_cast<Wide>(many.width) - distance, many.step) + 1;
  const Wide most = -floor_divide(-(static_cast<Wide>(one.width) - distance), many.step) - 1;
  return std::max(least, low) <= std::min(most, high);
}

}  // namespace

Region::Region(const char* argument, const ConstGroupedRows& view) noexcept : name(argument) {
  const Arrangement& at = view.at;
  if (view.data == nullptr || at.groups == 0 || at.rows == 0 || at.cols == 0) return;
  const auto size = static_cast<std::int64_t>(size_of(view.dtype));
  base = reinterpret_cast<std::uintptr_t>(view.data);
  // Groups that follow each other like their rows are rows of one group.
  Arrangement flat = at;
  const bool even = at.rows == 1 || at.group_stride == at.rows * at.row_stride;
  if (at.groups > 1 && even) {
    flat = {1,
            at.groups * at.rows,
            at.cols,
            0,
            at.rows == 1 ? at.group_stride : at.row_stride,
            at.column_stride,
            at.run,
            at.run_stride};
  }
  if (is_plain(flat)) {
    rows = flat.rows;
    step = flat.rows > 1 ? flat.row_stride * size : 0;
    width = flat.cols * size;
  } else {
    const Extent extent = extent_of(view);
    base += static_cast<std::uintptr_t>(extent.first);
    rows = 1;
    width = extent.end - extent.first;
  }
}

Region::Region(const char* argument, const ConstVector& view) noexcept
    : Region(argument, ConstGroupedVector{view.data, view.dtype, view.size, 0}, 1) {}

Region::Region(const char* argument, const ConstGroupedVector& view, std::int64_t groups) noexcept
    : Region(argument, ConstGroupedRows{view.data,
                                        view.dtype,
                                        {1, view.group_stride == 0 ? 1 : groups, view.size, 0,
                                         view.group_stride, 1, 0, 0}}) {}

Region::Region(const char* argument, const std::uint8_t* flags, std::int64_t count) noexcept
    : name(argument),
      base(reinterpret_cast<std::uintptr_t>(flags)),
      rows(flags == nullptr ? 0 : 1),
      width(count) {}

bool overlap(const Region& x, const Region& y) noexcept {
  if (x.empty() || y.empty()) return false;
  const Region a = ascending(x);
  const Region b = ascending(y);
  if (first_byte(a) >= end_byte(b) || first_byte(b) >= end_byte(a)) return false;
  const Wide distance = static_cast<Wide>(a.base) - static_cast<Wide>(b.base);
  if (b.rows == 1) return meets(distance, a, b, 0, a.rows - 1);
  if (a.rows == 1) return meets(-distance, b, a, 0, b.rows - 1);
  if (a.step == b.step) return meets(distance, a, b, -(b.rows - 1), a.rows - 1);
  return true;
}

bool identical(const ConstGroupedRows& a, const ConstGroupedRows& b) noexcept {
  const Arrangement& p = a.at;
  const Arrangement& q = b.at;
  if (a.data != b.data || a.dtype != b.dtype) return false;
  if (p.groups != q.groups || p.rows != q.rows || p.cols != q.cols) return false;
  if (p.rows > 1 && p.row_stride != q.row_stride) return false;
  if (is_plain(p) && is_plain(q)) return true;
  return p.group_stride == q.group_stride && p.column_stride == q.column_stride && p.run == q.run &&
         p.run_stride == q.run_stride;
}

void Regions::add(const Region& region, bool output) noexcept {
  if (region.empty()) return;
  regions_[count_] = region;
  output_[count_++] = output;
}

void Regions::allow(const char* output, const char* input) noexcept {
  allowed_[allowed_count_++] = {output, input};
}

bool Regions::allowed(const Region& output, const Region& input) const noexcept {
  return std::any_of(allowed_, allowed_ + allowed_count_, [&](const auto& pair) {
    return std::string_view(pair.output) == output.name &&
           std::string_view(pair.input) == input.name;
  });
}

Status Regions::check() const noexcept {
  for (int i = 0; i < count_; ++i) {
    for (int j = 0; output_[i] && j < count_; ++j) {
      if (i == j || (output_[j] && j < i)) continue;
      if (!overlap(regions_[i], regions_[j]) || allowed(regions_[i], regions_[j])) continue;
      return invalid(regions_[i].name, Value("overlaps ", regions_[j].name),
                     "an output must not overlap another argument, unless it is the input itself "
                     "where the header says so");
    }
  }
  return {};
}

}  // namespace equinorm
