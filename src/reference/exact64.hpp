// One f64 row on the exact path: scaled double-double, section 4 of docs/numerics.md.
//
// The one trap: everything here is scaled by powers of two that the row chooses, so that no finite
// row overflows or loses small elements; r alone means little without e.
#pragma once

#include <vector>

#include "double_double.hpp"
#include "equinorm/row_norm.hpp"
#include "standard.hpp"

namespace equinorm::reference {

struct Exact64Row {
  std::vector<Dd> xhat;
  Dd r;  // 2^e times 1 / spread
  Dd pull;
  int e = 0;  // d and r are scaled by 2^-e and 2^e
  double mean = 0;
  double tail = 0;
  double rstd = 0;
  double variance = 0;
};

/// x is finite in every element.
Exact64Row exact64_row(const std::vector<double>& x, const RowForm& form);

/// dx from finite dy and gain (empty where there is none).
std::vector<double> exact64_gradient(const std::vector<double>& dy, const std::vector<double>& gain,
                                     const Exact64Row& row, const RowForm& form);

}  // namespace equinorm::reference
