#include "lab/numerics_sweep/algorithms.hpp"

// LibTorch's 16-bit numbers: every operation in f32, its result rounded.
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
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

template <class Number>
Number to(std::size_t n) {
  return static_cast<Number>(static_cast<float>(n));
}

template <class Number>
Number root(Number x) {
  return static_cast<Number>(std::sqrt(static_cast<float>(x)));
}

// Sum of term(x[i]) over 16 lanes, folded at the end.
template <class Number, class Term>
Number lane_sum(std::span<const Number> x, Term term) {
  std::array<Number, kLanes> lanes{};
  for (std::size_t i = 0; i < x.size(); ++i) lanes[i % kLanes] += term(x[i]);
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

// The same sum by Kahan: the rounding of each addition is given back at the next one.
template <class Number, class Term>
Number compensated_sum(std::span<const Number> x, Term term) {
  Number sum = 0;
  Number lost = 0;
  for (const Number value : x) {
    const Number next = term(value) - lost;
    const Number total = sum + next;
    lost = (total - sum) - next;
    sum = total;
  }
  return sum;
}

template <class Number>
struct Moments {
  Number mean;
  Number variance;
};

template <class Number, class Sum>
Moments<Number> moments_by(std::span<const Number> x, Sum sum) {
  const auto n = to<Number>(x.size());
  const Number mean = sum(x, [](Number v) { return v; }) / n;
  const Number square = sum(x, [](Number v) { return v * v; }) / n;
  return {mean, square - mean * mean};
}

template <class Number>
Moments<Number> one_pass_moments(std::span<const Number> x) {
  return moments_by(x, [](auto values, auto term) { return lane_sum(values, term); });
}

template <class Number>
void scale(std::span<const Number> x, const Moments<Number>& moments, double eps,
           std::span<Number> y) {
  const Number rstd = static_cast<Number>(1.0F) /
                      root(moments.variance + static_cast<Number>(static_cast<float>(eps)));
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = (x[i] - moments.mean) * rstd;
}

template <class Number, class Norm>
void run_as(const Row& row, std::span<float> y, Norm norm) {
  const std::vector<Number> x(row.x.begin(), row.x.end());
  std::vector<Number> result(x.size());
  norm(std::span<const Number>(x), std::span<Number>(result));
  std::copy(result.begin(), result.end(), y.begin());
}

// norm(x, y) on numbers of the row's format.
template <class Norm>
void in_format(const Row& row, std::span<float> y, Norm norm) {
  if (row.dtype == DType::f16) return run_as<c10::Half>(row, y, norm);
  if (row.dtype == DType::bf16) return run_as<c10::BFloat16>(row, y, norm);
  run_as<float>(row, y, norm);
}

}  // namespace

void one_pass(const Row& row, std::span<float> y) {
  in_format(row, y, [&](auto x, auto out) { scale(x, one_pass_moments(x), row.eps, out); });
}

void two_pass(const Row& row, std::span<float> y) {
  in_format(row, y, [&]<class Number>(std::span<const Number> x, std::span<Number> out) {
    const auto n = to<Number>(x.size());
    const bool centred = row.operation == Operation::layer_norm;
    const Number mean = centred ? lane_sum(x, [](Number v) { return v; }) / n : Number(0.0F);
    const auto square = [mean](Number v) { return (v - mean) * (v - mean); };
    scale(x, {mean, lane_sum(x, square) / n}, row.eps, out);
  });
}

void welford(const Row& row, std::span<float> y) {
  in_format(row, y, [&]<class Number>(std::span<const Number> x, std::span<Number> out) {
    Number mean = 0;
    Number squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Number delta = x[i] - mean;
      mean += delta / to<Number>(i + 1);
      squares += delta * (x[i] - mean);
    }
    scale(x, {mean, squares / to<Number>(x.size())}, row.eps, out);
  });
}

void kahan(const Row& row, std::span<float> y) {
  in_format(row, y, [&](auto x, auto out) {
    const auto sum = [](auto values, auto term) { return compensated_sum(values, term); };
    scale(x, moments_by(x, sum), row.eps, out);
  });
}

void shifted(const Row& row, std::span<float> y) {
  in_format(row, y, [&]<class Number>(std::span<const Number> x, std::span<Number> out) {
    std::vector<Number> moved(x.begin(), x.end());
    for (Number& value : moved) value -= x[0];
    const std::span<const Number> rest(moved);
    scale(rest, one_pass_moments(rest), row.eps, out);
  });
}

void one_pass_f64(const Row& row, std::span<float> y) {
  double sum = 0;
  double squares = 0;
  for (const double value : row.x) {
    sum += value;
    squares += value * value;
  }
  const auto n = static_cast<double>(row.x.size());
  const double mean = sum / n;
  const double rstd = 1 / std::sqrt(squares / n - mean * mean + row.eps);
  in_format(row, y, [&]<class Number>(std::span<const Number> x, std::span<Number> out) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto value = (static_cast<double>(row.x[i]) - mean) * rstd;
      out[i] = static_cast<Number>(static_cast<float>(value));
    }
  });
}

void equinorm(const Row& row, std::span<float> y) {
  in_format(row, y, [&](auto x, auto out) {
    const auto n = static_cast<std::int64_t>(x.size());
    const ConstRows in{x.data(), row.dtype, 1, n, n};
    const Rows to{out.data(), row.dtype, 1, n, n};
    Context context;
    const auto run = [&](auto args, auto forward) {
      args.x = in;
      args.eps = row.eps;
      args.y = to;
      check(forward(args, context));
    };
    if (row.operation == Operation::layer_norm) {
      run(LayerNormForward(), layer_norm_forward);
    } else {
      run(RmsNormForward(), rms_norm_forward);
    }
  });
}

}  // namespace equinorm::lab::numerics
