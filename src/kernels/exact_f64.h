// The exact path of C = f64: scaled double-double, one element at a time (docs/numerics.md
// section 4). Shared by all instruction sets.
//
// Slow by design; rows come here that the vector kernels cannot trust. The trap: every function
// expects the floating-point environment of parallel/fp_environment.h.
#pragma once

#include <cstddef>

namespace equinorm::kernels {

struct ExactStatistics {
  double mean = 0;
  double tail = 0;
  double rstd = 0;
};

struct ExactRow {
  const double* x = nullptr;
  std::size_t cols = 0;          ///< > 0
  const double* gain = nullptr;  ///< null: 1
  double eps = 0;
};

/// y and the statistics of a LayerNorm (centered) or RMSNorm row. y may be x.
ExactStatistics exact_forward(bool centered, const ExactRow& row, const double* beta, double* y);

/// dx and xhat of a row; neither may overlap x or dy.
void exact_backward(bool centered, const ExactRow& row, const double* dy, double* dx, double* xhat);

}  // namespace equinorm::kernels
