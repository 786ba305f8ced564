#include "lab/numerics_sweep/row_errors.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace equinorm::lab::numerics {

std::vector<std::vector<double>> normal_rows(int rows, std::size_t columns, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  const auto uniform = [&generator] {
    return (static_cast<double>(generator() >> 11) + 0.5) * 0x1p-53;
  };
  std::vector<std::vector<double>> all(static_cast<std::size_t>(rows),
                                       std::vector<double>(columns));
  for (std::vector<double>& row : all) {
    for (double& value : row) {
      const double radius = std::sqrt(-2 * std::log(uniform()));
      value = radius * std::cos(6.283185307179586 * uniform());
    }
  }
  return all;
}

truth::Forward truth_of(const Row& row) {
  const auto n = static_cast<std::int64_t>(row.x.size());
  const ConstRows in{row.x.data(), DType::f32, 1, n, n};
  if (row.operation == Operation::layer_norm) {
    LayerNormForward args;
    args.x = in;
    args.eps = row.eps;
    return truth::layer_norm_forward(args);
  }
  RmsNormForward args;
  args.x = in;
  args.eps = row.eps;
  return truth::rms_norm_forward(args);
}

void add_errors(const std::vector<float>& y, DType dtype, const truth::Forward& exact,
                RowErrors& errors) {
  if (!std::all_of(y.begin(), y.end(), [](float v) { return std::isfinite(v); })) {
    ++errors.nan_rows;
    return;
  }
  const bool zeros = std::all_of(y.begin(), y.end(), [](float v) { return v == 0; });
  const bool truly_zero =
      std::all_of(exact.y.begin(), exact.y.end(), [](const truth::Value& v) { return v.hi == 0; });
  if (zeros && !truly_zero) {
    ++errors.zero_rows;
    return;
  }
  const truth::Value& scale = exact.scale[0];
  const truth::Value unit =
      dtype == DType::f32 ? truth::scale_ulp(scale, dtype) : truth::ulp(scale, dtype);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double error = truth::error(y[i], dtype, exact.y[i], unit);
    errors.worst_ulp = std::max(errors.worst_ulp, error);
  }
  ++errors.measured;
}

}  // namespace equinorm::lab::numerics
