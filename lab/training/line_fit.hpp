// The slope of a least-squares line.
#pragma once

#include <cstddef>
#include <span>

namespace equinorm::lab {

/// Of y over x, of equal size; 0 where all x are equal.
inline double least_squares_slope(std::span<const double> x, std::span<const double> y) {
  const auto n = static_cast<double>(y.size());
  double mean_x = 0;
  double mean_y = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  double xy = 0;
  double xx = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
  }
  return xx > 0 ? xy / xx : 0;
}

}  // namespace equinorm::lab
