// How far an algorithm's rows are from the truth oracle.
#pragma once

#include <cstdint>
#include <vector>

#include "equinorm/reference.hpp"
#include "lab/numerics_sweep/algorithms.hpp"

namespace equinorm::lab::numerics {

struct RowErrors {
  double worst_ulp = 0;  ///< of the rows counted in neither of the last two
  int measured = 0;
  int nan_rows = 0;   ///< rows with a NaN or an infinity
  int zero_rows = 0;  ///< rows of zeros where the truth has none
};

/// Standard normal values, the same with every library.
[[nodiscard]] std::vector<std::vector<double>> normal_rows(int rows, std::size_t columns,
                                                           std::uint64_t seed);

[[nodiscard]] truth::Forward truth_of(const Row& row);

/// Counts one row of output. The unit of its error is, for f32, 2^-23 of the row's scale
/// (docs/numerics.md, section 6), for the others the spacing of their numbers at that scale.
void add_errors(const std::vector<float>& y, DType dtype, const truth::Forward& exact,
                RowErrors& errors);

}  // namespace equinorm::lab::numerics
