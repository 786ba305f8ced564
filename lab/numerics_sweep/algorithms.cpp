#include "lab/numerics_sweep/algorithms.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

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
