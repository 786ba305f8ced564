// Problems of fused_norm: residual, dropout, gate, modulation, 8 bits, types and kinds of input by
// turns; and one call with all its buffers.
//
// The one trap: everything a call may touch is in its Arena, and two arenas of a problem start
// equal: what the oracle and the kernels make of them must be equal too, inputs included.
#pragma once

#include <string>
#include <vector>

#include "conformance/buffer.hpp"
#include "conformance/problem.hpp"
#include "equinorm/fused_norm.hpp"

namespace equinorm::conformance {

struct FusedProblem {
  int turn = 0;
  Direction direction = Direction::forward;
  std::int64_t rows = 0, cols = 0;
  std::int64_t each = 1;  ///< rows of a group
  DType x, residual, stream, y;
  bool with_residual, with_stream, with_dstream;
  bool groups;        ///< scale and shift of groups instead of gamma and beta
  bool gate, affine;  ///< of groups; gamma and beta
  int quantization;   ///< 0: none
  Dropout dropout;
  Family family;
  RowForm form;
  Accuracy accuracy;

  [[nodiscard]] bool backward() const { return direction == Direction::backward; }
  [[nodiscard]] DType compute() const;
  /// Rows that share parameters.
  [[nodiscard]] std::int64_t rows_of_sums() const { return groups ? each : rows; }
};

FusedProblem fused_problem(int turn, Direction direction, DType x, DType y);
std::string describe(const FusedProblem& problem);

class FusedArena {
 public:
  explicit FusedArena(const FusedProblem& problem);

  /// In place: the stream or y on an input, dresidual on dstream.
  FusedNormForward forward(bool in_place);
  FusedNormBackward backward(bool in_place);

  /// "" where all buffers are as in `o` and nothing was written beside them.
  [[nodiscard]] std::string difference(const FusedArena& o) const;

  Buffer x, residual, dy, dstream, scale, shift, gate, stream, y, dx, dresidual, dscale, dshift,
      dgate, gamma, beta, dgamma, dbeta, row_scale;
  std::vector<std::uint8_t> bytes;  ///< of y in 8 bits
  static constexpr double kFixedScale = 0.0371;
  static constexpr std::int64_t kByteGap = 3;

 private:
  FusedParameters parameters();

  FusedProblem p_;
};

}  // namespace equinorm::conformance
