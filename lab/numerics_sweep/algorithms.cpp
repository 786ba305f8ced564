#include "lab/numerics_sweep/algorithms.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "equinorm/layer_norm.hpp"
#include "equinorm/rms_norm.hpp"

namespace equinorm::lab::numerics {
namespace {

constexpr std::size_t kLanes = 16;

// Sum of term(x[i]) in f32 over 16 lanes, folded at the end.
template <class Term>
float lane_sum(std::span<const float> x, Term term) {
  std::array<float, kLanes> lanes{};
  for (std::size_t i = 0; i < x.size(); ++i) lanes[i % kLanes] += term(x[i]);
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

// The same sum by Kahan: the rounding of each addition is given back at the next one.
template <class Term>
float compensated_sum(std::span<const float> x, Term term) {
  float sum = 0;
  float lost = 0;
  for (const float value : x) {
    const float next = term(value) - lost;
    const float total = sum + next;
    lost = (total - sum) - next;
    sum = total;
  }
  return sum;
}

void scale(std::span<const float> x, float mean, float variance, double eps, std::span<float> y) {
  const float rstd = 1.0F / std::sqrt(variance + static_cast<float>(eps));
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = (x[i] - mean) * rstd;
}

}  // namespace

void one_pass(std::span<const float> x, double eps, Operation, std::span<float> y) {
  const auto n = static_cast<float>(x.size());
  const float mean = lane_sum(x, [](float v) { return v; }) / n;
  const float square = lane_sum(x, [](float v) { return v * v; }) / n;
  scale(x, mean, square - mean * mean, eps, y);
}

void two_pass(std::span<const float> x, double eps, Operation operation, std::span<float> y) {
  const auto n = static_cast<float>(x.size());
  const bool centred = operation == Operation::layer_norm;
  const float mean = centred ? lane_sum(x, [](float v) { return v; }) / n : 0.0F;
  const float variance = lane_sum(x, [mean](float v) { return (v - mean) * (v - mean); }) / n;
  scale(x, mean, variance, eps, y);
}

void welford(std::span<const float> x, double eps, Operation, std::span<float> y) {
  float mean = 0;
  float squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float delta = x[i] - mean;
    mean += delta / static_cast<float>(i + 1);
    squares += delta * (x[i] - mean);
  }
  scale(x, mean, squares / static_cast<float>(x.size()), eps, y);
}

void kahan(std::span<const float> x, double eps, Operation, std::span<float> y) {
  const auto n = static_cast<float>(x.size());
  const float mean = compensated_sum(x, [](float v) { return v; }) / n;
  const float square = compensated_sum(x, [](float v) { return v * v; }) / n;
  scale(x, mean, square - mean * mean, eps, y);
}

void shifted(std::span<const float> x, double eps, Operation operation, std::span<float> y) {
  std::vector<float> moved(x.begin(), x.end());
  for (float& value : moved) value -= x[0];
  one_pass(moved, eps, operation, y);
}

void one_pass_f64(std::span<const float> x, double eps, Operation, std::span<float> y) {
  double sum = 0;
  double squares = 0;
  for (const double value : x) {
    sum += value;
    squares += value * value;
  }
  const auto n = static_cast<double>(x.size());
  const double mean = sum / n;
  const double rstd = 1 / std::sqrt(squares / n - mean * mean + eps);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = static_cast<float>((x[i] - mean) * rstd);
}

void equinorm(std::span<const float> x, double eps, Operation operation, std::span<float> y) {
  const auto n = static_cast<std::int64_t>(x.size());
  const ConstRows in{x.data(), DType::f32, 1, n, n};
  const Rows out{y.data(), DType::f32, 1, n, n};
  Context context;
  if (operation == Operation::layer_norm) {
    LayerNormForward args;
    args.x = in;
    args.eps = eps;
    args.y = out;
    check(layer_norm_forward(args, context));
  } else {
    RmsNormForward args;
    args.x = in;
    args.eps = eps;
    args.y = out;
    check(rms_norm_forward(args, context));
  }
}

}  // namespace equinorm::lab::numerics
