// The formulas of section 3 and the table of section 4, line by line.
#include "standard.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "reduction.hpp"

namespace equinorm::reference {
namespace {

template <class C>
inline constexpr bool kIsDouble = std::is_same_v<C, double>;

// [2^-90, 2^90], for C = f64 [2^-900, 2^900].
template <class C>
bool in_statistics_range(double v) {
  const int k = kIsDouble<C> ? 900 : 90;
  return v >= std::ldexp(1.0, -k) && v <= std::ldexp(1.0, k);
}

// 0 or in [2^-100, 2^100], for C = f64 [2^-900, 2^900].
template <class C>
bool in_gradient_range(double v) {
  const int k = kIsDouble<C> ? 900 : 100;
  return v == 0 || (v >= std::ldexp(1.0, -k) && v <= std::ldexp(1.0, k));
}

template <class C>
double sum(const std::vector<C>& v) {
  return reduce<C>(std::ssize(v), [&](C acc, std::int64_t i) { return acc + v[i]; });
}

template <class C>
double sum_of_products(const std::vector<C>& a, const std::vector<C>& b) {
  return reduce<C>(std::ssize(a), [&](C acc, std::int64_t i) { return std::fma(a[i], b[i], acc); });
}

// rstd, pull and trust from v.
template <class C>
void set_spread(double v, const RowForm& form, Statistics<C>& result) {
  const double eps = form.eps;
  const double s = std::sqrt(v);
  result.variance = v;
  double span = 0;
  switch (form.spread) {
    case Spread::root:
    case Spread::length:
      span = std::sqrt(v + eps);
      result.trusted = result.trusted && in_statistics_range<C>(v + eps);
      break;
    case Spread::added:
      span = s + eps;
      result.pull = v > 0 ? span / s : 0;
      break;
    case Spread::clamped:
      span = s > eps ? s : eps;
      result.pull = s > eps ? 1 : 0;
      break;
  }
  if (form.spread == Spread::added || form.spread == Spread::clamped) {
    result.trusted = result.trusted && in_statistics_range<C>(v == 0 ? eps : v) &&
                     eps <= std::ldexp(1.0, kIsDouble<C> ? 900 : 90);
  }
  if (form.detach_spread) result.pull = 0;
  result.rstd = span > 0 ? static_cast<C>(1.0 / span) : C{0};
}

template <class C>
Statistics<C> centred_statistics(const std::vector<C>& x, const RowForm& form) {
  const auto D = static_cast<double>(x.size());
  const C m = static_cast<C>(sum(x) / D);
  std::vector<C> d(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) d[i] = x[i] - m;
  const double S = sum(d);
  const double Q = sum_of_products(d, d);
  const double delta = S / D;
  const double var = Q / D - delta * delta;

  const double s = m + delta;  // TwoSum(m, delta)
  const double z = s - m;
  const double t = (m - (s - z)) + (delta - z);
  Statistics<C> result;
  result.center = s;
  result.mean = static_cast<C>(s);
  result.tail = static_cast<C>((s - result.mean) + t);
  result.trusted =
      std::isfinite(S) && std::isfinite(Q) && (Q > 0 ? delta * delta <= var / 64 : S == 0);
  set_spread(form.unbiased ? var * (D / divisor_of(form, x.size())) : var, form, result);
  return result;
}

template <class C>
Statistics<C> plain_statistics(const std::vector<C>& x, const RowForm& form) {
  const std::vector<C> seen(x.begin(),
                            x.begin() + static_cast<std::ptrdiff_t>(part_of(form, x.size())));
  const double Q = sum_of_products(seen, seen);
  Statistics<C> result;
  result.trusted =
      std::isfinite(Q) && std::all_of(x.begin(), x.end(), [](C v) { return std::isfinite(v); });
  set_spread(Q / divisor_of(form, seen.size()), form, result);
  return result;
}

}  // namespace

std::size_t part_of(const RowForm& form, std::size_t columns) {
  if (form.part == 1) return columns;
  return std::min(static_cast<std::size_t>(std::ceil(form.part * static_cast<double>(columns))),
                  columns);
}

double divisor_of(const RowForm& form, std::size_t columns) {
  if (form.spread == Spread::length) return 1;
  return static_cast<double>(form.unbiased && columns > 1 ? columns - 1 : columns);
}

Statistics<double> given_statistics(const RowForm& form, const Given& given) {
  Statistics<double> result;
  result.center = result.mean = given.mean;
  set_spread(given.variance, form, result);
  return result;
}

std::vector<double> given_gradient(const std::vector<double>& dy, const std::vector<double>& gain,
                                   double rstd) {
  std::vector<double> dx(dy);
  for (std::size_t i = 0; i < dx.size(); ++i) {
    dx[i] = (gain.empty() ? dy[i] : dy[i] * gain[i]) * rstd;
  }
  return dx;
}

template <class C>
Statistics<C> row_statistics(const std::vector<C>& x, const RowForm& form) {
  if (x.empty()) return {};
  return form.centered ? centred_statistics(x, form) : plain_statistics(x, form);
}

template <class C>
std::vector<C> normalize(const std::vector<C>& x, const Statistics<C>& statistics,
                         const RowForm& form) {
  const C rstd = statistics.rstd;
  const C shift = -(statistics.tail * rstd);
  std::vector<C> xhat(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    xhat[i] = form.centered ? std::fma(x[i] - statistics.mean, rstd, shift) : x[i] * rstd;
  }
  return xhat;
}

template <class C>
C scale_and_shift(C xhat, const C* gain, const C* beta) {
  if (gain != nullptr && beta != nullptr) return std::fma(xhat, *gain, *beta);
  if (gain != nullptr) return xhat * *gain;
  if (beta != nullptr) return xhat + *beta;
  return xhat;
}

template <class C>
void add_terms(const std::vector<C>& dy, const std::vector<C>& xhat, std::int64_t segment,
               Gradient<C>& result) {
  for (auto at = std::ptrdiff_t{0}; at < std::ssize(dy); at += segment) {
    const std::vector<double> part(dy.begin() + at, dy.begin() + at + segment);
    const std::vector<double> xhat_part(xhat.begin() + at, xhat.begin() + at + segment);
    result.dgamma.push_back(sum_of_products(part, xhat_part));
    result.dbeta.push_back(sum(part));
  }
}

template <class C>
Gradient<C> segment_gradient(const std::vector<C>& dy, const std::vector<C>& gain,
                             const std::vector<C>& xhat, const Statistics<C>& statistics,
                             const RowForm& form, std::int64_t segment) {
  Gradient<C> result;
  double G = 0;
  double P = 0;
  double largest = 0;
  bool lost = false;  // a product underflowed to 0
  for (auto begin = dy.begin(); begin < dy.end(); begin += segment) {
    const auto at = begin - dy.begin();
    const std::vector<C> part(begin, begin + segment);
    const std::vector<C> xhat_part(xhat.begin() + at, xhat.begin() + at + segment);
    result.dgamma.push_back(sum_of_products(part, xhat_part));
    result.dbeta.push_back(sum(part));
    const double u = gain.empty() ? 1.0 : gain[at];
    double of_dy = 0;
    for (const C v : part) of_dy = std::max(of_dy, static_cast<double>(std::abs(v)));
    const double of_g = std::abs(u) * of_dy;
    P = P + u * result.dgamma.back();
    G = G + u * result.dbeta.back();
    largest = std::max(largest, of_g);
    lost = lost || (of_g == 0 && u != 0 && of_dy != 0);
    result.trusted =
        result.trusted && std::isfinite(result.dgamma.back()) && std::isfinite(result.dbeta.back());
  }
  const C c1 = form.centered && !form.detach_mean
                   ? static_cast<C>(G / static_cast<double>(dy.size()))
                   : C{0};
  const C c2 = static_cast<C>(statistics.pull * (P / divisor_of(form, dy.size())));
  for (std::size_t i = 0; i < dy.size(); ++i) {
    C b = gain.empty() ? dy[i] : dy[i] * gain[i];
    if (form.centered) b = gain.empty() ? dy[i] - c1 : std::fma(dy[i], gain[i], -c1);
    result.dx.push_back(std::fma(-xhat[i], c2, b) * statistics.rstd);
  }
  result.trusted = result.trusted && std::isfinite(G) && std::isfinite(P) &&
                   in_gradient_range<C>(largest) && !(largest == 0 && lost);
  return result;
}

template <class C>
Gradient<C> input_gradient(const std::vector<C>& dy, const std::vector<C>& gain,
                           const std::vector<C>& xhat, const Statistics<C>& statistics,
                           const RowForm& form, std::int64_t segment) {
  if (dy.empty()) return {};
  if (segment != 0 && !gain.empty()) {
    return segment_gradient(dy, gain, xhat, statistics, form, segment);
  }
  const std::size_t part = part_of(form, dy.size());
  std::vector<C> g(dy);
  for (std::size_t i = 0; i < gain.size(); ++i) g[i] = dy[i] * gain[i];
  const double G = form.centered ? sum(g) : 0;
  const double P = sum_of_products(g, xhat);
  const C c1 = form.detach_mean ? C{0} : static_cast<C>(G / static_cast<double>(dy.size()));
  const C c2 = static_cast<C>(statistics.pull * (P / divisor_of(form, part)));
  Gradient<C> result;
  C largest = 0;
  bool lost = false;  // a product underflowed to 0
  for (std::size_t i = 0; i < g.size(); ++i) {
    C b = g[i];
    if (form.centered) b = gain.empty() ? dy[i] - c1 : std::fma(dy[i], gain[i], -c1);
    result.dx.push_back(std::fma(-xhat[i], i < part ? c2 : C{0}, b) * statistics.rstd);
    largest = std::max(largest, std::abs(g[i]));
    lost = lost || (!gain.empty() && g[i] == 0 && dy[i] != 0 && gain[i] != 0);
  }
  result.trusted = std::isfinite(G) && std::isfinite(P) && in_gradient_range<C>(largest) &&
                   !(largest == 0 && lost);
  if (segment != 0) add_terms(dy, xhat, segment, result);
  return result;
}

template void add_terms(const std::vector<float>&, const std::vector<float>&, std::int64_t,
                        Gradient<float>&);
template void add_terms(const std::vector<double>&, const std::vector<double>&, std::int64_t,
                        Gradient<double>&);
template struct Statistics<float>;
template Statistics<float> row_statistics(const std::vector<float>&, const RowForm&);
template std::vector<float> normalize(const std::vector<float>&, const Statistics<float>&,
                                      const RowForm&);
template float scale_and_shift(float, const float*, const float*);
template Gradient<float> input_gradient(const std::vector<float>&, const std::vector<float>&,
                                        const std::vector<float>&, const Statistics<float>&,
                                        const RowForm&, std::int64_t);
template struct Statistics<double>;
template Statistics<double> row_statistics(const std::vector<double>&, const RowForm&);
template std::vector<double> normalize(const std::vector<double>&, const Statistics<double>&,
                                       const RowForm&);
template double scale_and_shift(double, const double*, const double*);
template Gradient<double> input_gradient(const std::vector<double>&, const std::vector<double>&,
                                         const std::vector<double>&, const Statistics<double>&,
                                         const RowForm&, std::int64_t);

}  // namespace equinorm::reference
