#include "case.hpp"

#include <iterator>

namespace equinorm::bench {

const OpInfo& info_of(Op op) noexcept { return kOps[static_cast<std::size_t>(op)]; }
static_assert([] {
  for (std::size_t i = 0; i < std::size(kOps); ++i) {
    if (static_cast<std::size_t>(kOps[i].op) != i) return false;
  }
  return true;
}());

const char* name_of(Direction direction) noexcept {
  switch (direction) {
    case Direction::forward:
      return "fwd";
    case Direction::backward:
      return "bwd";
    case Direction::both:
      return "fwd+bwd";
  }
  return "unknown";
}

std::int64_t bytes_moved(const Case& c) noexcept {
  const OpInfo& op = info_of(c.op);
  const std::int64_t tensors = (c.direction == Direction::backward ? 0 : op.forward) +
                               (c.direction == Direction::forward ? 0 : op.backward);
  return tensors * c.rows * c.cols * static_cast<std::int64_t>(size_of(c.dtype));
}

}  // namespace equinorm::bench
