// What the tests of the LibTorch front end measure with: bits, units in the last place, and truth
// in long double. Includes nothing of the front end, so that it cannot share its faults.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace equinorm::tests {

inline const std::vector<at::ScalarType>& all_types() {
  static const std::vector<at::ScalarType> types = {at::kDouble, at::kFloat, at::kHalf,
                                                    at::kBFloat16};
  return types;
}

/// Normal numbers of a fixed seed, scaled and shifted, in `type`.
inline at::Tensor normal(at::IntArrayRef sizes, at::ScalarType type, std::uint64_t seed,
                         double mean = 0, double spread = 1) {
  auto generator = at::detail::createCPUGenerator(seed);
  const auto options = at::TensorOptions().dtype(at::kDouble);
  return (at::randn(sizes, generator, options) * spread + mean).to(type);
}

/// Whether two tensors have one type, one shape and the same bits.
inline ::testing::AssertionResult same_bits(const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) {
    return ::testing::AssertionFailure()
           << a.toString() << " " << a.sizes() << " against " << b.toString() << " " << b.sizes();
  }
  const at::Tensor left = a.detach().contiguous();
  const at::Tensor right = b.detach().contiguous();
  if (left.nbytes() == 0 || std::memcmp(left.data_ptr(), right.data_ptr(), left.nbytes()) == 0) {
    return ::testing::AssertionSuccess();
  }
  const double most = (left.to(at::kDouble) - right.to(at::kDouble)).abs().max().item<double>();
  return ::testing::AssertionFailure() << "bits differ; values by up to " << most;
}

/// Spacing of the numbers of `type` at `magnitude`.
inline double ulp_at(double magnitude, at::ScalarType type) {
  const bool is_double = type == at::kDouble;
  const int digits = is_double ? 52 : type == at::kFloat ? 23 : type == at::kHalf ? 10 : 7;
  const int least = is_double ? -1022 : type == at::kHalf ? -14 : -126;
  const int exponent = magnitude > 0 ? std::max(std::ilogb(magnitude), least) : least;
  return std::ldexp(1.0, exponent - digits);
}

/// The numbers of a tensor, row-major, exactly.
inline std::vector<long double> numbers(const at::Tensor& tensor) {
  const at::Tensor wide = tensor.detach().to(at::kDouble).contiguous();
  const auto* data = wide.const_data_ptr<double>();
  return {data, data + wide.numel()};
}

/// One affine normalization to check: undefined weight and bias stand for 1 and 0.
struct Problem {
  at::Tensor x;  ///< (rows, cols)
  at::Tensor weight;
  at::Tensor bias;
  double eps = 1e-5;
  bool centred = true;   ///< LayerNorm; otherwise RMSNorm
  bool add_one = false;  ///< gain = 1 + weight
};

/// Exact y and row scale max|xhat| max|gain| + max|bias|, in long double: 11 bits more than double.
struct Truth {
  std::vector<long double> y;
  std::vector<long double> scale;  ///< one per row
};

inline long double largest_of(const std::vector<long double>& values, long double shift = 0) {
  long double largest = 0;
  for (const long double value : values) largest = std::max(largest, std::abs(value + shift));
  return largest;
}

inline Truth truth_of(const Problem& problem) {
  const auto rows = problem.x.size(0);
  const auto cols = problem.x.size(1);
  const auto x = numbers(problem.x);
  const auto weight =
      problem.weight.defined() ? numbers(problem.weight) : std::vector<long double>(cols, 1.0L);
  const auto bias =
      problem.bias.defined() ? numbers(problem.bias) : std::vector<long double>(cols, 0.0L);
  Truth truth{std::vector<long double>(rows * cols), std::vector<long double>(rows)};
  for (std::int64_t r = 0; r < rows; ++r) {
    const long double* row = x.data() + r * cols;
    long double mean = 0;
    for (std::int64_t c = 0; c < cols && problem.centred; ++c) mean += row[c] / cols;
    long double square = 0;
    for (std::int64_t c = 0; c < cols; ++c) square += (row[c] - mean) * (row[c] - mean) / cols;
    const long double rstd = 1 / std::sqrt(square + static_cast<long double>(problem.eps));
    const long double one = problem.add_one ? 1 : 0;
    long double most = 0;
    for (std::int64_t c = 0; c < cols; ++c) {
      const long double xhat = (row[c] - mean) * rstd;
      truth.y[r * cols + c] = xhat * (weight[c] + one) + bias[c];
      most = std::max(most, std::abs(xhat));
    }
    truth.scale[r] = most * largest_of(weight, one) + largest_of(bias);
  }
  return truth;
}

/// A scale ulp of docs/numerics.md, section 6.
inline double scale_ulp(long double scale, at::ScalarType compute) {
  return static_cast<double>(scale) * (compute == at::kDouble ? 0x1p-52 : 0x1p-23);
}

/// Largest error in scale ulp, after half an ulp of the output where it is narrower than the
/// compute type. `scale` has one element for each row of `got`.
inline double scale_ulps(const at::Tensor& got, const std::vector<long double>& want,
                         const std::vector<long double>& scale) {
  const auto values = numbers(got);
  const std::size_t cols = values.size() / scale.size();
  const auto type = got.scalar_type();
  const auto compute = type == at::kDouble ? at::kDouble : at::kFloat;
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto error = static_cast<double>(std::abs(values[i] - want[i]));
    if (type != compute) {
      const auto exact = static_cast<double>(std::abs(want[i]));
      error = std::max(0.0, error - 0.5 * ulp_at(exact, type));
    }
    if (error == 0) continue;
    error /= scale_ulp(scale[i / cols], compute);
    worst = std::isnan(error) ? error : std::max(worst, error);
  }
  return worst;
}

}  // namespace equinorm::tests
