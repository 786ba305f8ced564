// What one line of a benchmark is about, and who competes in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "equinorm/types.hpp"

namespace equinorm::bench {

enum class Op : std::uint8_t { layer_norm, rms_norm };
enum class Direction : std::uint8_t { forward, backward, both };

/// "layer_norm" or "rms_norm".
const char* name_of(Op op) noexcept;
/// "fwd", "bwd" or "fwd+bwd".
const char* name_of(Direction direction) noexcept;

struct Case {
  Op op = Op::layer_norm;
  Direction direction = Direction::forward;
  DType dtype = DType::f32;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  int threads = 1;
};

/// Bytes that the case must move at least: x and y forward; x, dy and dx backward; the parameters
/// and statistics are left out.
std::int64_t bytes_moved(const Case& c) noexcept;

/// Somebody who does the work of a case.
struct Contender {
  std::string name;     ///< "equinorm", "equinorm.torch", "pytorch", "copy"
  std::string outputs;  ///< "reused": written to the same memory each call; "fresh": allocated
  std::function<void()> call;
  /// The bytes that the last call wrote: y, or dx where there is a backward pass.
  std::function<std::vector<std::byte>()> result;
};

}  // namespace equinorm::bench
