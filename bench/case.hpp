// What one line of a benchmark is about, and who competes in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "equinorm/types.hpp"

namespace equinorm::bench {

/// An operator and who else does it. rows x cols are tokens x features; the images of those that
/// have some hold the rows as positions, square where they can be, and the columns as channels.
enum class Op : std::uint8_t {
  layer_norm,
  rms_norm,
  residual_layer_norm,
  modulated_layer_norm,
  dynamic_tanh,
  batch_norm,
  batch_norm_eval,
  batch_norm_2d,
  batch_norm_2d_channels_last,
  group_norm,
  group_norm_channels_last,
  layer_norm_2d,
  layer_norm_2d_channels_last,
};

struct OpInfo {
  Op op;
  const char* name;
  const char* peer;  ///< what PyTorch runs
  bool in_core;      ///< the C++ API competes too; else only the LibTorch front end
  int forward;       ///< tensors of rows x cols that must be moved
  int backward;
};

inline constexpr OpInfo kOps[] = {
    {Op::layer_norm, "layer_norm", "layer_norm", true, 2, 3},
    {Op::rms_norm, "rms_norm", "rms_norm", true, 2, 3},
    {Op::residual_layer_norm, "residual_layer_norm", "add, layer_norm", false, 4, 4},
    {Op::modulated_layer_norm, "modulated_layer_norm", "layer_norm, mul, add", false, 2, 3},
    {Op::dynamic_tanh, "dynamic_tanh", "mul, tanh, mul, add", false, 2, 3},
    {Op::batch_norm, "batch_norm", "batch_norm of (tokens, features)", false, 2, 3},
    {Op::batch_norm_eval, "batch_norm_eval", "the same outside training", false, 2, 3},
    {Op::batch_norm_2d, "batch_norm_2d", "batch_norm", false, 2, 3},
    {Op::batch_norm_2d_channels_last, "batch_norm_2d.channels_last", "batch_norm", false, 2, 3},
    {Op::group_norm, "group_norm", "group_norm", false, 2, 3},
    {Op::group_norm_channels_last, "group_norm.channels_last", "group_norm", false, 2, 3},
    {Op::layer_norm_2d, "layer_norm_2d", "permute, layer_norm, permute", false, 2, 3},
    {Op::layer_norm_2d_channels_last, "layer_norm_2d.channels_last", "permute, layer_norm, permute",
     false, 2, 3},
};

const OpInfo& info_of(Op op) noexcept;

enum class Direction : std::uint8_t { forward, backward, both };

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

/// Bytes that the case must move at least: x and y forward, x, dy and dx backward, and a residual
/// stream; parameters and statistics are left out.
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
