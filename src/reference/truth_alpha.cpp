// The operators with one number alpha in exact arithmetic: blended norms and DyT.
//
// The one trap: 1 - tanh^2 cancels; the slope of tanh is 4 E / (1 + E)^2 with E = exp(-2|z|).
#include <cmath>
#include <limits>

#include "numbers.hpp"
#include "real.hpp"
#include "rows.hpp"

namespace equinorm::truth {
namespace {

using reference::load_row;
using reference::load_vector;

double alpha_of(const ConstVector& alpha) { return reference::load(alpha.data, alpha.dtype, 0); }

double smallest_normal(DType compute) { return compute == DType::f64 ? 0x1p-1022 : 0x1p-126; }

void multiply(const Real& factor, std::vector<Value>& values) {
  for (Value& v : values) v = (factor * Real(v)).value();
}

// v * factor + rest * row of the same element; the scale of row r likewise.
void blend(const Real& factor, const Real& rest, const ConstRows& rows, double floor,
           std::vector<Value>& v, std::vector<Value>& scale) {
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    Real largest;
    const std::vector<double> row = load_row<double>(grouped(rows), r);
    for (std::int64_t c = 0; c < rows.cols; ++c) {
      Value& element = v[static_cast<std::size_t>(r * rows.cols + c)];
      const Real other = rest * Real(row[c]);
      element = (factor * Real(element) + other).value();
      largest = max(largest, abs(other));
    }
    Value& of_row = scale[static_cast<std::size_t>(r)];
    of_row = (abs(factor) * max(Real(of_row), floor) + largest).value();
  }
}

// Sums of a column over rows.
struct Column {
  Real sum;
  Real size;
  void add(const Real& term, const Real& term_size, double floor) {
    sum += term;
    size += max(term_size, floor);
  }
};

void append(const std::vector<Column>& columns, std::vector<Value>& sums,
            std::vector<Value>& scales) {
  for (const Column& column : columns) {
    sums.push_back(column.sum.value());
    scales.push_back(column.size.value());
  }
}

}  // namespace

Forward blended_norm_forward(const BlendedNormForward& args) {
  Forward result = row_norm_forward({args.form, args.x, args.gamma, args.beta, args.y});
  const Real alpha = alpha_of(args.alpha);
  const double floor = smallest_normal(compute_type(args.x.dtype, args.y.dtype));
  blend(alpha, Real(1.0) - alpha, args.x, floor, result.y, result.scale);
  return result;
}

AlphaBackward blended_norm_backward(const BlendedNormBackward& args) {
  AlphaBackward result;
  Backward& norm = result.other;
  norm = row_norm_backward({args.form, args.dy, args.x, args.gamma, {}, {}, {}});
  const std::int64_t cols = args.x.cols;
  const Real alpha = alpha_of(args.alpha);
  const double floor = smallest_normal(compute_type(args.x.dtype, args.dy.dtype));
  // dalpha = sum over the columns of gain dgamma + beta dbeta, less dy x.
  const std::vector<double> gamma = load_vector<double>(grouped(args.gamma), 0, cols);
  const std::vector<double> beta = load_vector<double>(grouped(args.beta), 0, cols);
  Real dalpha, size;
  for (std::size_t i = 0; i < static_cast<std::size_t>(cols); ++i) {
    Real gain = gamma.empty() ? 1.0 : gamma[i];
    if (args.form.gain == Gain::one_plus && !gamma.empty()) gain += 1.0;
    const Real b = beta.empty() ? 0.0 : beta[i];
    dalpha += gain * Real(norm.dgamma[i]) + b * Real(norm.dbeta[i]);
    size += abs(gain) * Real(norm.dgamma_scale[i]) + abs(b) * Real(norm.dbeta_scale[i]);
  }
  for (std::int64_t r = 0; r < args.x.rows; ++r) {
    const std::vector<double> x = load_row<double>(grouped(args.x), r);
    const std::vector<double> dy = load_row<double>(grouped(args.dy), r);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Real term = Real(dy[i]) * x[i];
      dalpha += Real() - term;
      size += max(abs(term), floor);
    }
  }
  result.dalpha = dalpha.value();
  result.dalpha_scale = size.value();
  blend(alpha, Real(1.0) - alpha, args.dy, floor, norm.dx, norm.scale);
  for (auto* sums : {&norm.dgamma, &norm.dbeta}) multiply(alpha, *sums);
  for (auto* scales : {&norm.dgamma_scale, &norm.dbeta_scale}) multiply(abs(alpha), *scales);
  return result;
}

Forward dynamic_tanh_forward(const DynamicTanhForward& args) {
  Forward result;
  const Real alpha = alpha_of(args.alpha);
  const std::vector<double> gamma = load_vector<double>(grouped(args.gamma), 0, args.x.cols);
  const std::vector<double> beta = load_vector<double>(grouped(args.beta), 0, args.x.cols);
  for (std::int64_t r = 0; r < args.x.rows; ++r) {
    const std::vector<double> x = load_row<double>(grouped(args.x), r);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Real gain = gamma.empty() ? 1.0 : gamma[i];
      const Real shift = beta.empty() ? 0.0 : beta[i];
      result.y.push_back((tanh(alpha * x[i]) * gain + shift).value());
      result.scale.push_back((abs(gain) + abs(shift)).value());
    }
  }
  return result;
}

AlphaBackward dynamic_tanh_backward(const DynamicTanhBackward& args) {
  constexpr double kFloor = 0x1p-1022;
  AlphaBackward result;
  const Real alpha = alpha_of(args.alpha);
  const std::vector<double> gamma = load_vector<double>(grouped(args.gamma), 0, args.x.cols);
  std::vector<Column> dgamma(static_cast<std::size_t>(args.x.cols)), dbeta(dgamma);
  Column dalpha;
  for (std::int64_t r = 0; r < args.x.rows; ++r) {
    const std::vector<double> x = load_row<double>(grouped(args.x), r);
    const std::vector<double> dy = load_row<double>(grouped(args.dy), r);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Real z = alpha * x[i];
      const Real decay = exp(Real(-2.0) * abs(z));
      const Real slope = Real(4.0) * decay / (Real(1.0) + decay) / (Real(1.0) + decay);
      const Real g = gamma.empty() ? Real(dy[i]) : Real(dy[i]) * gamma[i];
      const Real t = tanh(z);
      result.other.dx.push_back((alpha * g * slope).value());
      result.other.scale.push_back((abs(alpha) * max(abs(g), kFloor)).value());
      dgamma[i].add(dy[i] * t, abs(dy[i] * t), kFloor);
      dbeta[i].add(dy[i], abs(Real(dy[i])), kFloor);
      // A relative error of z is one of 2|z| of the slope.
      Real size = max(abs(g), kFloor) * max(slope, kFloor) * abs(Real(x[i]));
      if (ilogb(g.value()) >= 1023) size = std::numeric_limits<double>::infinity();
      dalpha.add(g * slope * x[i], size * (Real(1.0) + abs(z)), kFloor);
    }
  }
  append(dgamma, result.other.dgamma, result.other.dgamma_scale);
  append(dbeta, result.other.dbeta, result.other.dbeta_scale);
  result.dalpha = dalpha.sum.value();
  result.dalpha_scale = dalpha.size.value();
  return result;
}

}  // namespace equinorm::truth
