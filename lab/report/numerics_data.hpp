// numerics.json as structs: what lab/numerics_sweep measured.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace equinorm::lab::report {

struct NumericsPoint {
  double at = 0;     ///< offset / spread, or scale
  double ulp = 0;    ///< worst error of the rows counted in neither of these; NaN when none is left
  int nan_rows = 0;  ///< rows with a NaN or an infinity in the output
  int zero_rows = 0;  ///< rows of zeros where the truth has none
};

struct NumericsSeries {
  std::string algorithm;  ///< "one-pass", "two-pass", "pytorch" or "equinorm"
  std::vector<NumericsPoint> points;
};

struct NumericsSweep {
  std::string name;       ///< "layer-norm-offset", ...
  std::string operation;  ///< "LayerNorm" or "RMSNorm"
  std::string axis;       ///< "offset / spread" or "scale"
  double eps = 0;
  std::vector<NumericsSeries> series;
};

struct Numerics {
  int columns = 0;
  int rows = 0;  ///< per point
  double bound_ulp = 0;
  std::vector<NumericsSweep> sweeps;
};

/// Throws InputError naming the file and what is wrong with it.
[[nodiscard]] Numerics load_numerics(const std::filesystem::path& file);

}  // namespace equinorm::lab::report
