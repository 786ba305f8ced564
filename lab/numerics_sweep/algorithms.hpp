// The algorithms of the sweep: normalize one f32 row without gain and bias.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace equinorm::lab::numerics {

enum class Operation { layer_norm, rms_norm };

/// y[i] from x; both of the same size.
using Algorithm = void (*)(std::span<const float> x, double eps, Operation operation,
                           std::span<float> y);

/// E[x^2] - E[x]^2 in f32, 16 partial sums as a vectorized loop has. LayerNorm only.
void one_pass(std::span<const float> x, double eps, Operation operation, std::span<float> y);

/// Mean first, then the squares of x - mean, all in f32 with 16 partial sums.
void two_pass(std::span<const float> x, double eps, Operation operation, std::span<float> y);

/// LayerNorm only: mean and variance by Welford's recurrence, f32.
void welford(std::span<const float> x, double eps, Operation operation, std::span<float> y);

/// Sums by Kahan's compensation, E[x^2] - E[x]^2 from them, f32. LayerNorm only.
void kahan(std::span<const float> x, double eps, Operation operation, std::span<float> y);

/// one_pass on x - x[0], f32. LayerNorm only.
void shifted(std::span<const float> x, double eps, Operation operation, std::span<float> y);

/// E[x^2] - E[x]^2, and everything else, in f64. LayerNorm only.
void one_pass_f64(std::span<const float> x, double eps, Operation operation, std::span<float> y);

/// at::layer_norm and at::rms_norm.
void pytorch(std::span<const float> x, double eps, Operation operation, std::span<float> y);

/// Our kernels through the public API; throws equinorm::Error.
void equinorm(std::span<const float> x, double eps, Operation operation, std::span<float> y);

}  // namespace equinorm::lab::numerics
