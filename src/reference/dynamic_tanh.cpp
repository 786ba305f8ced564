// DyT in f64: section 11 of docs/numerics.md.
//
// The one trap: the series of exp(r) - 1 has 1/n! as coefficients up to 1/14!, each the f64
// quotient.
#include <bit>
#include <cmath>

#include "column_sums.hpp"
#include "equinorm/reference.hpp"
#include "numbers.hpp"
#include "rows.hpp"

namespace equinorm::reference {
namespace {

// Of exp(-2|z|): the number itself, and less 1.
struct Decay {
  double value;
  double less_one;
};

Decay decay_of(double z) {
  const double twice = std::abs(z) + std::abs(z);
  const double a = twice < 1400 ? twice : 1400;
  const double k = std::fma(a, 0x1.71547652b82fep0, 0x1.8p52) - 0x1.8p52;
  const double r = std::fma(k, 0x1.a39ef35793c76p-33, std::fma(k, 0x1.62e42fee00000p-1, -a));
  double factorial = 87178291200;  // 14!
  double q = 1 / factorial;
  for (int n = 14; n > 2; --n) {
    factorial = factorial / n;
    q = std::fma(q, r, 1 / factorial);
  }
  const double p = std::fma(r * r, q, r);
  const int steps = static_cast<int>(k);
  const double first = std::ldexp(1.0, -(steps / 2));
  const double second = std::ldexp(1.0, -(steps - steps / 2));
  const double both = first * second;
  return {((1 + p) * first) * second, std::fma(both, p, both - 1)};
}

double tanh_of(double z) {
  const double e = decay_of(z).less_one;
  return std::isnan(z) ? z : std::copysign(-e / (e + 2), z);
}

double slope_of(double z) {
  const double e = decay_of(z).value;
  return std::isnan(z) ? z : ((4 * e) / (1 + e)) / (1 + e);
}

}  // namespace

void dynamic_tanh_forward(const DynamicTanhForward& args) {
  const double alpha = load(args.alpha.data, args.alpha.dtype, 0);
  const std::vector<double> gamma = load_vector<double>(grouped(args.gamma), 0, args.x.cols);
  const std::vector<double> beta = load_vector<double>(grouped(args.beta), 0, args.x.cols);
  for (std::int64_t r = 0; r < args.x.rows; ++r) {
    std::vector<double> y = load_row<double>(grouped(args.x), r);
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = scale_and_shift(tanh_of(alpha * y[i]), gamma.empty() ? nullptr : &gamma[i],
                             beta.empty() ? nullptr : &beta[i]);
    }
    store_row(grouped(args.y), r, y);
  }
}

void dynamic_tanh_backward(const DynamicTanhBackward& args) {
  const double alpha = load(args.alpha.data, args.alpha.dtype, 0);
  const std::vector<double> gamma = load_vector<double>(grouped(args.gamma), 0, args.x.cols);
  ColumnSums<double> dalpha(args.x.rows, args.x.cols), dgamma(args.x.rows, args.x.cols),
      dbeta(args.x.rows, args.x.cols);
  for (std::int64_t r = 0; r < args.x.rows; ++r) {
    const std::vector<double> x = load_row<double>(grouped(args.x), r);
    const std::vector<double> dy = load_row<double>(grouped(args.dy), r);
    std::vector<double> t(x), dz(x), dx(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      t[i] = tanh_of(alpha * x[i]);
      dz[i] = (gamma.empty() ? dy[i] : dy[i] * gamma[i]) * slope_of(alpha * x[i]);
      dx[i] = alpha * dz[i];
    }
    dgamma.add_products(dy, t);
    dbeta.add(dy);
    dalpha.add_products(dz, x);
    if (args.dx.data != nullptr) store_row(grouped(args.dx), r, dx);
  }
  double total = 0;
  for (const double v : dalpha.result()) total = total + v;
  store_vector(grouped(args.dalpha), 0, {total});
  store_vector(grouped(args.dgamma), 0, dgamma.result());
  store_vector(grouped(args.dbeta), 0, dbeta.result());
}

}  // namespace equinorm::reference
