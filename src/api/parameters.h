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

/// Elements of a workspace row: a row of the call, or its parameters where it has no columns.
std::int64_t row_elements(const NormCall& call, const Sharing& sharing) noexcept;

/// `rows` is kAffineRows workspace rows of `row_elements` f64 each.
kernels::Affine prepare_affine(const NormCall& call, const Sharing& sharing, DType c,
                               kernels::Target target, double* rows,
                               std::int64_t row_elements) noexcept;

/// Given statistics in f64: 2 * groups elements at `to`.
kernels::Given prepare_given(const NormCall& call, kernels::Target target, double* to) noexcept;
/// Elements of f64 that prepare_given needs, for a 64-byte aligned place.
std::int64_t given_elements(const NormCall& call) noexcept;

}  // namespace equinorm
