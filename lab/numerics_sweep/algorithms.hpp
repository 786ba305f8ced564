// The algorithms of the sweep: normalize one row without gain and bias.
#pragma once

#include <span>

#include "equinorm/types.hpp"

namespace equinorm::lab::numerics {

enum class Operation { layer_norm, rms_norm };

struct Row {
  std::span<const float> x;  ///< numbers that `dtype` has
  DType dtype = DType::f32;  ///< f32, f16 or bf16
  double eps = 0;
  Operation operation = Operation::layer_norm;
};

/// y[i] from row.x[i], numbers that row.dtype has. The textbook algorithms round every operation to
/// row.dtype; PyTorch and Equinorm read and write it and compute as they do.
using Algorithm = void (*)(const Row& row, std::span<float> y);

/// E[x^2] - E[x]^2, 16 partial sums as a vectorized loop has. LayerNorm only.
void one_pass(const Row& row, std::span<float> y);

/// Mean first, then the squares of x - mean, with 16 partial sums.
void two_pass(const Row& row, std::span<float> y);

/// LayerNorm only: mean and variance by Welford's recurrence.
void welford(const Row& row, std::span<float> y);

/// Sums by Kahan's compensation, E[x^2] - E[x]^2 from them. LayerNorm only.
void kahan(const Row& row, std::span<float> y);

/// one_pass on x - x[0]. LayerNorm only.
void shifted(const Row& row, std::span<float> y);

/// E[x^2] - E[x]^2, and everything else, in f64 whatever the row is in. LayerNorm only.
void one_pass_f64(const Row& row, std::span<float> y);

/// at::layer_norm and at::rms_norm.
void pytorch(const Row& row, std::span<float> y);

/// Our kernels through the public API; throws equinorm::Error.
void equinorm(const Row& row, std::span<float> y);

}  // namespace equinorm::lab::numerics
