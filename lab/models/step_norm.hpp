// Norms inside a recurrent step, forward and backward on plain tensors: what a hand-written
// autograd function calls. Rows go through Equinorm's kernels; batch normalization is their
// transpose.
//
// Nothing here records a graph, and statistics are not kept: the backward pass takes them anew from
// x, as the core offers. The one trap: a batch norm takes its statistics over `real_rows` alone and
// gives zeros for all other rows.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace equinorm::lab {

/// Averages of a batch norm that evaluation uses, one row per time step; steps beyond the last row
/// reuse it and leave it alone in training.
struct StepAverages {
  at::Tensor mean;      ///< (steps, size)
  at::Tensor variance;  ///< (steps, size), unbiased
};

struct StepNorm {
  enum class Kind : std::uint8_t {
    none,     ///< y = x
    rows,     ///< LayerNorm of each row
    gates,    ///< LayerNorm of each quarter of a row
    columns,  ///< batch normalization of each column, the statistics of this step alone
  };
  Kind kind = Kind::none;
  at::Tensor gamma;  ///< (size), unless kind is none
  at::Tensor beta;   ///< (size), or undefined
  double eps = 1e-5;
  bool training = false;    ///< of a batch norm: take the batch's own statistics
  StepAverages averages{};  ///< of a batch norm
};

/// Where a call belongs. `real` (rows), contiguous Bool: the rows that count; undefined: all do.
struct StepPlace {
  std::int64_t step = 0;
  at::Tensor real{};
};

/// x (rows, size) -> the same shape. Training updates the averages of a batch norm.
at::Tensor step_norm_forward(const StepNorm& norm, const at::Tensor& x, const StepPlace& place);

struct StepNormGradients {
  at::Tensor x;
  at::Tensor gamma;
  at::Tensor beta;  ///< undefined where the norm has none
};

/// For kind none gamma and beta stay undefined.
StepNormGradients step_norm_backward(const StepNorm& norm, const at::Tensor& dy,
                                     const at::Tensor& x, const StepPlace& place);

}  // namespace equinorm::lab
