#include "case.hpp"

namespace equinorm::bench {

const char* name_of(Op op) noexcept { return op == Op::layer_norm ? "layer_norm" : "rms_norm"; }

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
  const std::int64_t tensors = c.direction == Direction::forward    ? 2
                               : c.direction == Direction::backward ? 3
                                                                    : 5;
  return tensors * c.rows * c.cols * static_cast<std::int64_t>(size_of(c.dtype));
}

}  // namespace equinorm::bench
