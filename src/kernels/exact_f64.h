// The exact path of C = f64: scaled double-double, one element at a time (docs/numerics.md
// section 4). Shared by all instruction sets.
//
// Slow by design; rows come here that the vector kernels cannot trust. The trap: every function
// expects the floating-point environment of parallel/fp_environment.h.
#pragma once

#include <cstddef>

#include "kernel_types.h"

namespace equinorm::kernels {

struct ExactStatistics {
  double mean = 0;
  double tail = 0;
  double rstd = 0;
  double variance = 0;
};

struct ExactRow {
  const double* x = nullptr;
  std::size_t cols = 0;  ///< > 0
  bool centered = true;
  const RowForm& form;
  const double* gain = nullptr;    ///< null: 1, or adaptive
  const Affine* affine = nullptr;  ///< of which only the adaptive gain is read
};

/// y and the statistics of a row. y may be x.
ExactStatistics exact_forward(const ExactRow& row, const double* beta, double* y);

/// dx and xhat of a row; neither may overlap x or dy.
void exact_backward(const ExactRow& row, const double* dy, double* dx, double* xhat);

}  // namespace equinorm::kernels
