// Generates the inputs of a problem, family by family.
//
// The one trap: values must exist in the storage type, so everything is rounded to it, and what
// would round to infinity is cut to the largest finite number.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "conformance/problem.hpp"
#include "conformance/random.hpp"
#include "reference/numbers.hpp"

namespace equinorm::conformance {
namespace {

double largest(DType type) {
  switch (type) {
    case DType::f64:
      return std::numeric_limits<double>::max();
    case DType::f32:
      return std::numeric_limits<float>::max();
    case DType::f16:
      return 65504;
    case DType::bf16:
      return std::scalbn(255.0, 120);
  }
  return 0;
}

double smallest_normal(DType type) {
  switch (type) {
    case DType::f64:
      return std::numeric_limits<double>::min();
    case DType::f32:
    case DType::bf16:
      return std::numeric_limits<float>::min();
    case DType::f16:
      return 0x1p-14;
  }
  return 0;
}

double smallest_subnormal(DType type) {
  switch (type) {
    case DType::f64:
      return 0x1p-1074;
    case DType::f32:
      return 0x1p-149;
    case DType::f16:
      return 0x1p-24;
    case DType::bf16:
      return 0x1p-133;
  }
  return 0;
}

double representable(double value, DType type) {
  const double limit = largest(type);
  std::uint64_t bits = 0;
  reference::store(&bits, type, 0, std::isfinite(value) ? std::clamp(value, -limit, limit) : value);
  return reference::load(&bits, type, 0);
}

double offset_of(Family family) {
  switch (family) {
    case Family::offset_1e2:
      return 1e2;
    case Family::offset_1e4:
      return 1e4;
    case Family::offset_1e6:
      return 1e6;
    case Family::offset_1e8:
      return 1e8;
    default:
      return 0;
  }
}

double scale_of(Family family, DType type) {
  switch (family) {
    case Family::scale_tiny:
      return smallest_normal(type) * 4;
    case Family::scale_small:
      return std::sqrt(smallest_normal(type));
    case Family::scale_large:
      return std::sqrt(largest(type));
    case Family::scale_huge:
      return largest(type) / 5;
    default:
      return 1;
  }
}

using Row = std::span<double>;

void fill_subnormal(Row x, DType type, Random& random) {
  const double unit = smallest_subnormal(type);
  const auto count = static_cast<std::int64_t>(std::min(smallest_normal(type) / unit, 0x1p40)) - 1;
  for (double& v : x) v = unit * static_cast<double>(random.integer(-count, count));
}

void fill_row(Row x, Family family, DType type, std::int64_t row, Random& random) {
  const double offset = offset_of(family);
  const double scale = scale_of(family, type);
  for (double& v : x) v = offset + scale * random.normal();
  const auto position = x.empty() ? 0 : static_cast<std::size_t>(random.bits() % x.size());
  switch (family) {
    case Family::heavy_tails:
      for (double& v : x) v = std::copysign(std::exp(2 * random.normal()), v);
      break;
    case Family::cauchy:
      for (double& v : x) v = std::tan(std::numbers::pi * (random.uniform() - 0.5));
      break;
    case Family::outlier:
      if (!x.empty()) x[position] *= 1e4;
      break;
    case Family::aligned_gradient:
      if (!x.empty()) x[position] = std::sqrt(static_cast<double>(x.size()));
      break;
    case Family::constant:
      std::fill(x.begin(), x.end(), random.normal() * std::exp(3 * random.normal()));
      break;
    case Family::alternating:
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = (i % 2 == 0 ? 1 : -1) * std::abs(x[0]);
      break;
    case Family::subnormal:
      fill_subnormal(x, type, random);
      break;
    case Family::zeros:
      std::fill(x.begin(), x.end(), 0.0);
      break;
    case Family::non_finite:
      if (x.empty()) break;
      if (row == 1) x[position] = -std::numeric_limits<double>::quiet_NaN();
      if (row == 3) x[position] = std::numeric_limits<double>::infinity();
      break;
    default:
      break;
  }
}

void fill_gradient(Row dy, Row x, Family family, DType type, Random& random) {
  double sum = 0;
  for (const double v : x) sum += v / static_cast<double>(x.size());
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const double v = 0.3 + random.normal();
    switch (family) {
      case Family::aligned_gradient:
        dy[i] = x[i] < sum ? -1 : 1;
        break;
      case Family::constant_gradient:
        dy[i] = 1.8812;  // whose multiples round alike in f32
        break;
      case Family::tiny_gradient:
        dy[i] = smallest_normal(type) * 4 * v;
        break;
      case Family::huge_gradient:
        dy[i] = largest(type) / 8 * v;
        break;
      default:
        dy[i] = v;
    }
  }
}

void fill_gain(Row gamma, Family family, DType type, Random& random) {
  for (double& v : gamma) {
    v = 1 + 0.5 * random.normal();
    if (family == Family::wide_gain) {
      const bool zero = random.bits() % 8 == 0;
      v = zero ? 0 : std::copysign(std::exp(14 * (random.uniform() - 0.5)), v);
    }
    if (family == Family::huge_gradient) v *= std::sqrt(largest(type));
    v = representable(v, type);
  }
}

// The kinds that `mixed` draws from.
Family family_of_row(Family family, Random& random) {
  if (family != Family::mixed) return family;
  const auto choices = static_cast<std::int64_t>(Family::mixed) - 1;
  return static_cast<Family>(random.integer(0, choices));
}

}  // namespace

Inputs make_inputs(const Problem& problem) {
  Random random(problem.seed);
  Inputs inputs;
  const Types& types = problem.types;
  const auto cols = static_cast<std::size_t>(problem.cols);
  const bool backward = problem.direction == Direction::backward;
  inputs.x.resize(static_cast<std::size_t>(problem.rows) * cols);
  if (backward) inputs.dy.resize(inputs.x.size());
  for (std::int64_t r = 0; r < problem.rows; ++r) {
    const Family family = family_of_row(problem.family, random);
    const Row x = Row(inputs.x).subspan(static_cast<std::size_t>(r) * cols, cols);
    fill_row(x, family, types.x, problem.family == Family::mixed ? r % 4 : r, random);
    for (double& v : x) v = representable(v, types.x);
    if (!backward) continue;
    const Row dy = Row(inputs.dy).subspan(static_cast<std::size_t>(r) * cols, cols);
    fill_gradient(dy, x, family, types.y, random);
    for (double& v : dy) v = representable(v, types.y);
  }
  if (problem.gamma) {
    inputs.gamma.resize(static_cast<std::size_t>(problem.gain_size()));
    fill_gain(inputs.gamma, problem.family, types.parameter, random);
  }
  if (problem.beta && problem.has_beta() && !backward) {
    for (std::size_t c = 0; c < cols; ++c) {
      inputs.beta.push_back(representable(0.5 * random.normal(), types.parameter));
    }
  }
  return inputs;
}

}  // namespace equinorm::conformance
