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
C reciprocal_root(double v) {
  return v <= 0 ? C{0} : static_cast<C>(1.0 / std::sqrt(v));
}

template <class C>
double sum(const std::vector<C>& v) {
  return reduce<C>(std::ssize(v), [&](C acc, std::int64_t i) { return acc + v[i]; });
}

template <class C>
double sum_of_products(const std::vector<C>& a, const std::vector<C>& b) {
  return reduce<C>(std::ssize(a), [&](C acc, std::int64_t i) { return std::fma(a[i], b[i], acc); });
}

}  // namespace

template <class C>
Statistics<C> layer_norm_statistics(const std::vector<C>& x, double eps) {
  if (x.empty()) return {};
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
  result.mean = static_cast<C>(s);
  result.tail = static_cast<C>((s - result.mean) + t);
  result.rstd = reciprocal_root<C>(var + eps);
  result.trusted = std::isfinite(S) && std::isfinite(Q) && in_statistics_range<C>(var + eps) &&
                   (Q > 0 ? delta * delta <= var / 64 : S == 0);
  return result;
}

template <class C>
Statistics<C> rms_norm_statistics(const std::vector<C>& x, double eps) {
  if (x.empty()) return {};
  const auto D = static_cast<double>(x.size());
  const double Q = sum_of_products(x, x);
  Statistics<C> result;
  result.rstd = reciprocal_root<C>(Q / D + eps);
  result.trusted = std::isfinite(Q) && in_statistics_range<C>(Q / D + eps);
  return result;
}

template <class C>
std::vector<C> normalize(const std::vector<C>& x, const Statistics<C>& statistics, bool centred) {
  const C rstd = statistics.rstd;
  const C shift = -(statistics.tail * rstd);
  std::vector<C> xhat(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    xhat[i] = centred ? std::fma(x[i] - statistics.mean, rstd, shift) : x[i] * rstd;
  }
  return xhat;
}

template <class C>
C scale_and_shift(C xhat, const C* gamma, const C* beta) {
  if (gamma != nullptr && beta != nullptr) return std::fma(xhat, *gamma, *beta);
  if (gamma != nullptr) return xhat * *gamma;
  if (beta != nullptr) return xhat + *beta;
  return xhat;
}

template <class C>
Gradient<C> input_gradient(const std::vector<C>& dy, const std::vector<C>& gain,
                           const std::vector<C>& xhat, C rstd, bool centred) {
  if (dy.empty()) return {};
  const auto D = static_cast<double>(dy.size());
  std::vector<C> g(dy);
  for (std::size_t i = 0; i < gain.size(); ++i) g[i] = dy[i] * gain[i];
  const double G = centred ? sum(g) : 0;
  const double P = sum_of_products(g, xhat);
  const C c1 = static_cast<C>(G / D);
  const C c2 = static_cast<C>(P / D);
  Gradient<C> result;
  C largest = 0;
  for (std::size_t i = 0; i < g.size(); ++i) {
    C centred_g = g[i];
    if (centred) centred_g = gain.empty() ? dy[i] - c1 : std::fma(dy[i], gain[i], -c1);
    result.dx.push_back(std::fma(-xhat[i], c2, centred_g) * rstd);
    largest = std::max(largest, std::abs(g[i]));
  }
  result.trusted = std::isfinite(G) && std::isfinite(P) && in_gradient_range<C>(largest);
  return result;
}

template struct Statistics<float>;
template struct Statistics<double>;
template Statistics<float> layer_norm_statistics(const std::vector<float>&, double);
template Statistics<double> layer_norm_statistics(const std::vector<double>&, double);
template Statistics<float> rms_norm_statistics(const std::vector<float>&, double);
template Statistics<double> rms_norm_statistics(const std::vector<double>&, double);
template std::vector<float> normalize(const std::vector<float>&, const Statistics<float>&, bool);
template std::vector<double> normalize(const std::vector<double>&, const Statistics<double>&, bool);
template float scale_and_shift(float, const float*, const float*);
template double scale_and_shift(double, const double*, const double*);
template Gradient<float> input_gradient(const std::vector<float>&, const std::vector<float>&,
                                        const std::vector<float>&, float, bool);
template Gradient<double> input_gradient(const std::vector<double>&, const std::vector<double>&,
                                         const std::vector<double>&, double, bool);

}  // namespace equinorm::reference
