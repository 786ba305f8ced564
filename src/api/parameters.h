// Parameters of a call in its compute type, once per call rather than once per row.
//
// The trap: prepare() does arithmetic (1 + gamma) and belongs inside the contract's
// floating-point environment, like a task.
#pragma once

#include <cstdint>

#include "norm_call.h"

namespace equinorm {

/// Workspace rows that prepare_affine needs.
inline constexpr std::int64_t kAffineRows = 3;

/// `rows` is kAffineRows workspace rows of `row_elements` f64 each.
kernels::Affine prepare_affine(const NormCall& call, DType c, kernels::Target target, double* rows,
                               std::int64_t row_elements) noexcept;

}  // namespace equinorm
