#include "exact_f64.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "double_double.h"

namespace equinorm::kernels {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

int ilogb_of(double a) { return std::ilogb(a); }

/// floor(k / 2), also for negative k.
int half_down(int k) { return k >= 0 ? k / 2 : -((1 - k) / 2); }

double largest(const double* v, std::size_t n) {
  double most = 0;
  for (std::size_t i = 0; i < n; ++i) most = std::max(most, std::fabs(v[i]));
  return most;
}

bool all_finite(const double* v, std::size_t n) {
  return std::all_of(v, v + n, [](double a) { return std::isfinite(a); });
}

/// Everything about a row that its elements share. deviation(i) is d of the contract, scaled by
/// 2^-e; xhat(i) is deviation(i) * r.
class Row {
 public:
  Row(bool centered, const ExactRow& row) : x_(row.x), centered_(centered) {
    const std::size_t n = row.cols;
    const double count = static_cast<double>(n);
    const double most = largest(x_, n);
    bool any = most > 0;
    e1_ = any ? ilogb_of(most) : 0;
    int scale = e1_;
    if (centered_) {
      Dd sum;
      for (std::size_t i = 0; i < n; ++i) sum = sum + std::scalbn(x_[i], -e1_);
      mean_ = sum / count;
      double spread = 0;
      for (std::size_t i = 0; i < n; ++i) spread = std::max(spread, std::fabs(shifted(i).h));
      any = spread > 0;
      if (any) scale = e1_ + ilogb_of(spread);
    }
    if (!any && row.eps == 0) return;  // r_ = 0
    const int from_eps = row.eps > 0 ? half_down(ilogb_of(row.eps)) : scale;
    e_ = any ? std::max(scale, from_eps) : from_eps;
    Dd squares;
    for (std::size_t i = 0; i < n; ++i) {
      const Dd d = deviation(i);
      squares = squares + d * d;
    }
    r_ = inverse_sqrt(squares / count + std::scalbn(row.eps, -2 * e_));
  }

  Dd xhat(std::size_t i) const { return deviation(i) * r_; }
  const Dd& r() const { return r_; }
  int e() const { return e_; }
  ExactStatistics statistics() const {
    return {std::scalbn(mean_.h, e1_), std::scalbn(mean_.l, e1_), std::scalbn(r_.h, -e_)};
  }

 private:
  Dd shifted(std::size_t i) const {
    return two_sum(std::scalbn(x_[i], -e1_), -mean_.h) + (-mean_.l);
  }
  Dd deviation(std::size_t i) const {
    return centered_ ? scaled(shifted(i), e1_ - e_) : Dd{std::scalbn(x_[i], -e_), 0};
  }

  const double* x_;
  bool centered_;
  int e1_ = 0;
  int e_ = 0;
  Dd mean_;
  Dd r_;
};

/// g of an element, scaled by 2^-E, from frexp mantissas.
struct Gradient {
  const double* dy;
  const double* gain;
  int largest_exponent = 0;
  bool any = false;

  Gradient(const double* dy_row, const double* gain_row, std::size_t n)
      : dy(dy_row), gain(gain_row) {
    for (std::size_t i = 0; i < n; ++i) {
      int k, j;
      const double a = std::frexp(dy[i], &k);
      const double b = factor(i, &j);
      if (a * b == 0) continue;
      largest_exponent = any ? std::max(largest_exponent, k + j) : k + j;
      any = true;
    }
  }

  double factor(std::size_t i, int* j) const {
    *j = 0;
    return gain != nullptr ? std::frexp(gain[i], j) : 1.0;
  }

  Dd operator()(std::size_t i) const {
    int k, j;
    const double a = std::frexp(dy[i], &k);
    const double b = factor(i, &j);
    return scaled(two_prod(a, b), k + j - largest_exponent);
  }
};

}  // namespace

ExactStatistics exact_forward(bool centered, const ExactRow& row, const double* beta, double* y) {
  const std::size_t n = row.cols;
  if (!all_finite(row.x, n)) {
    std::fill(y, y + n, kNan);
    return centered ? ExactStatistics{kNan, kNan, kNan} : ExactStatistics{0, 0, kNan};
  }
  const Row shared(centered, row);
  for (std::size_t i = 0; i < n; ++i) {
    const double xhat = shared.xhat(i).h;
    if (row.gain != nullptr && beta != nullptr) {
      y[i] = std::fma(xhat, row.gain[i], beta[i]);
    } else if (row.gain != nullptr) {
      y[i] = xhat * row.gain[i];
    } else {
      y[i] = beta != nullptr ? xhat + beta[i] : xhat;
    }
  }
  return shared.statistics();
}

void exact_backward(bool centered, const ExactRow& row, const double* dy, double* dx,
                    double* xhat) {
  const std::size_t n = row.cols;
  if (!all_finite(row.x, n)) {
    std::fill(dx, dx + n, kNan);
    std::fill(xhat, xhat + n, kNan);
    return;
  }
  const Row shared(centered, row);
  for (std::size_t i = 0; i < n; ++i) xhat[i] = shared.xhat(i).h;
  if (!all_finite(dy, n) || (row.gain != nullptr && !all_finite(row.gain, n))) {
    std::fill(dx, dx + n, kNan);
    return;
  }
  const Gradient g(dy, row.gain, n);
  if (!g.any) {
    std::fill(dx, dx + n, 0.0);
    return;
  }
  const double count = static_cast<double>(n);
  Dd c1, c2;
  for (std::size_t i = 0; i < n; ++i) {
    const Dd gi = g(i);
    c1 = c1 + gi;
    c2 = c2 + gi * shared.xhat(i);
  }
  c1 = c1 / count;
  c2 = c2 / count;
  for (std::size_t i = 0; i < n; ++i) {
    const Dd centered_g = centered ? g(i) + (-c1) : g(i);
    const Dd t = centered_g + (-(shared.xhat(i) * c2));
    dx[i] = std::scalbn((t * shared.r()).h, g.largest_exponent - shared.e());
  }
}

}  // namespace equinorm::kernels
