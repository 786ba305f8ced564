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
  explicit Row(const ExactRow& row) : x_(row.x), centered_(row.centered) {
    const RowForm& form = row.form;
    const auto n = static_cast<std::size_t>(form.part);
    const double most = largest(x_, n);
    bool any = most > 0;
    e1_ = any ? ilogb_of(most) : 0;
    int scale = e1_;
    if (centered_) {
      Dd sum;
      for (std::size_t i = 0; i < n; ++i) sum = sum + std::scalbn(x_[i], -e1_);
      mean_ = sum / static_cast<double>(n);
      double spread = 0;
      for (std::size_t i = 0; i < n; ++i) spread = std::max(spread, std::fabs(shifted(i).h));
      any = spread > 0;
      if (any) scale = e1_ + ilogb_of(spread);
    }
    divisor_ = form.spread == Spread::length
                   ? 1.0
                   : static_cast<double>(form.unbiased && n > 1 ? n - 1 : n);
    if (!any && form.eps == 0) return;  // r_ = 0
    const int from_eps = form.eps > 0 ? exponent_of_eps(form) : scale;
    e_ = any ? std::max(scale, from_eps) : from_eps;
    Dd squares;
    for (std::size_t i = 0; i < n; ++i) {
      const Dd d = deviation(i);
      squares = squares + d * d;
    }
    const Dd v = squares / divisor_;
    variance_ = std::scalbn(v.h, 2 * e_);
    set_spread(v, form);
  }

  Dd xhat(std::size_t i) const { return deviation(i) * r_; }
  const Dd& r() const { return r_; }
  int e() const { return e_; }
  double divisor() const { return divisor_; }
  const Dd& pull() const { return pull_; }
  ExactStatistics statistics() const {
    return {std::scalbn(mean_.h, e1_), std::scalbn(mean_.l, e1_), std::scalbn(r_.h, -e_),
            variance_};
  }

 private:
  static int exponent_of_eps(const RowForm& form) {
    return form.spread == Spread::root ? half_down(ilogb_of(form.eps)) : ilogb_of(form.eps);
  }

  /// r and the pull from v, both scaled by 2^-2e and 2^e.
  void set_spread(const Dd& v, const RowForm& form) {
    pull_ = {1, 0};
    if (form.spread == Spread::root || form.spread == Spread::length) {
      r_ = inverse_sqrt(form.spread == Spread::root ? v + std::scalbn(form.eps, -2 * e_) : v);
    } else {
      const double eps = std::scalbn(form.eps, -e_);
      const Dd inverse_s = v.h > 0 ? inverse_sqrt(v) : Dd{};
      const Dd s = v * inverse_s;
      if (form.spread == Spread::added) {
        r_ = inverse(s + eps);
        pull_ = (s + eps) * inverse_s;
      } else {
        const bool above = s > eps;
        r_ = above ? inverse_s : inverse({eps, 0});
        if (!above) pull_ = {};
      }
    }
    if (form.detach_spread) pull_ = {};
  }

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
  double divisor_ = 1;
  double variance_ = 0;
  Dd mean_;
  Dd r_;
  Dd pull_;
};

bool has_gain(const ExactRow& row) { return row.affine->adaptive || row.gain != nullptr; }

/// Which parameter is that of column i.
std::size_t parameter_of(const ExactRow& row, std::size_t i) {
  const auto segment = static_cast<std::size_t>(row.affine->segment);
  return segment == 0 ? i : i / segment;
}

/// Gamma or the adaptive gain of an element; has_gain(row).
double gain_of(const ExactRow& row, std::size_t i, double xhat) {
  const Affine& affine = *row.affine;
  return affine.adaptive ? std::fma(-affine.slope, xhat, affine.height)
                         : row.gain[parameter_of(row, i)];
}

/// g of an element, scaled by 2^-E, from frexp mantissas.
struct Gradient {
  const ExactRow& row;
  const double* dy;
  const double* xhat;
  int largest_exponent = 0;
  bool any = false;

  Gradient(const ExactRow& of, const double* dy_row, const double* xhat_row)
      : row(of), dy(dy_row), xhat(xhat_row) {
    for (std::size_t i = 0; i < row.cols; ++i) {
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
    return has_gain(row) ? std::frexp(gain_of(row, i, xhat[i]), j) : 1.0;
  }

  Dd operator()(std::size_t i) const {
    int k, j;
    const double a = std::frexp(dy[i], &k);
    const double b = factor(i, &j);
    return scaled(two_prod(a, b), k + j - largest_exponent);
  }
};

}  // namespace

ExactStatistics exact_forward(const ExactRow& row, const double* beta, double* y) {
  const std::size_t n = row.cols;
  if (!all_finite(row.x, n)) {
    std::fill(y, y + n, kNan);
    return {kNan, kNan, kNan, kNan};
  }
  const Row shared(row);
  for (std::size_t i = 0; i < n; ++i) {
    const double xhat = shared.xhat(i).h;
    if (has_gain(row) && beta != nullptr) {
      y[i] = std::fma(xhat, gain_of(row, i, xhat), beta[parameter_of(row, i)]);
    } else if (has_gain(row)) {
      y[i] = xhat * gain_of(row, i, xhat);
    } else {
      y[i] = beta != nullptr ? xhat + beta[parameter_of(row, i)] : xhat;
    }
  }
  return shared.statistics();
}

void exact_backward(const ExactRow& row, const double* dy, double* dx, double* xhat) {
  const std::size_t n = row.cols;
  if (!all_finite(row.x, n)) {
    std::fill(dx, dx + n, kNan);
    std::fill(xhat, xhat + n, kNan);
    return;
  }
  const Row shared(row);
  for (std::size_t i = 0; i < n; ++i) xhat[i] = shared.xhat(i).h;
  const std::size_t parameters = n == 0 ? 0 : parameter_of(row, n - 1) + 1;
  if (!all_finite(dy, n) || (row.gain != nullptr && !all_finite(row.gain, parameters))) {
    std::fill(dx, dx + n, kNan);
    return;
  }
  const Gradient g(row, dy, xhat);
  if (!g.any) {
    std::fill(dx, dx + n, 0.0);
    return;
  }
  const auto part = static_cast<std::size_t>(row.form.part);
  Dd c1, c2;
  for (std::size_t i = 0; i < n; ++i) {
    const Dd gi = g(i);
    c1 = c1 + gi;
    c2 = c2 + gi * shared.xhat(i);
  }
  c1 = row.form.detach_mean ? Dd{} : c1 / static_cast<double>(n);
  const bool pulls = shared.pull().h != 0;
  c2 = shared.pull() * (c2 / shared.divisor());
  for (std::size_t i = 0; i < n; ++i) {
    const Dd centered_g = row.centered ? g(i) + (-c1) : g(i);
    const Dd t = pulls && i < part ? centered_g + (-(shared.xhat(i) * c2)) : centered_g;
    dx[i] = std::scalbn((t * shared.r()).h, g.largest_exponent - shared.e());
  }
}

}  // namespace equinorm::kernels
