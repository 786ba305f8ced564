// Which part of the forward pass made an autograd node: autograd numbers its nodes as forward makes
// them, so a part is a range of numbers.
//
// The one trap: the numbers are the thread's own, so both passes must run on one thread.
#pragma once

#include <ATen/SequenceNumber.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace equinorm::lab {

template <class Label>
class GraphRanges {
 public:
  void begin() { first_ = at::sequence_number::peek(); }
  void end(const Label& label) { ranges_.push_back({first_, at::sequence_number::peek(), label}); }
  void clear() { ranges_.clear(); }

  /// Null for a node that was made outside all ranges.
  [[nodiscard]] const Label* find(std::uint64_t number) const {
    const auto after = std::upper_bound(
        ranges_.begin(), ranges_.end(), number,
        [](std::uint64_t value, const Range& range) { return value < range.first; });
    if (after == ranges_.begin()) return nullptr;
    const Range& range = *(after - 1);
    return number < range.last ? &range.label : nullptr;
  }

 private:
  struct Range {
    std::uint64_t first;
    std::uint64_t last;
    Label label;
  };

  std::uint64_t first_ = 0;
  std::vector<Range> ranges_;  // rising
};

}  // namespace equinorm::lab
