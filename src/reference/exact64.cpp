// Forward and backward pass of one exact f64 row, in the letters of docs/numerics.md.
#include "exact64.hpp"

#include <algorithm>
#include <climits>
#include <cmath>

#include "numbers.hpp"
#include "standard.hpp"

namespace equinorm::reference {
namespace {

constexpr int kNone = INT_MIN;

int half_exponent(double eps) {  // floor(ilogb(eps) / 2)
  const int e = exponent_of(eps);
  return (e - (e & 1)) / 2;
}

double largest_magnitude(const std::vector<double>& v) {
  double largest = 0;
  for (const double a : v) largest = std::max(largest, std::abs(a));
  return largest;
}

double largest_magnitude(const std::vector<Dd>& v) {
  double largest = 0;
  for (const Dd a : v) largest = std::max(largest, std::abs(a.h));
  return largest;
}

Dd sum_of_products(const std::vector<Dd>& a, const std::vector<Dd>& b) {
  Dd sum;
  for (std::size_t i = 0; i < a.size(); ++i) sum = sum + a[i] * b[i];
  return sum;
}

// Deviations scaled by 2^-shift, so that x - mean = 2^shift * d.
struct Deviations {
  std::vector<Dd> d;
  int shift = 0;
};

Deviations centre(const std::vector<double>& x, Exact64Row& row) {
  const double largest = largest_magnitude(x);
  const int e1 = largest == 0 ? 0 : exponent_of(largest);
  Deviations result;
  result.shift = e1;
  Dd sum;
  for (const double v : x) sum = sum + std::scalbn(v, -e1);
  const Dd mean = sum / static_cast<double>(x.size());
  for (const double v : x) {
    result.d.push_back(two_sum(std::scalbn(v, -e1), -mean.h) + -mean.l);
  }
  row.mean = std::scalbn(mean.h, e1);
  row.tail = std::scalbn(mean.l, e1);
  return result;
}

Deviations as_they_are(const std::vector<double>& x) {
  Deviations result;
  for (const double v : x) result.d.push_back({v, 0});
  return result;
}

// r and the pull from v and eps, scaled by 2^-2e and 2^-e (root: 2^-2e).
void set_spread(Dd v, const RowForm& form, Exact64Row& row) {
  const double eps = std::scalbn(form.eps, form.spread == Spread::root ? -2 * row.e : -row.e);
  row.pull = {1, 0};
  if (form.spread == Spread::root) {
    row.r = reciprocal_root(v + eps);
  } else if (form.spread == Spread::length) {
    row.r = reciprocal_root(v);
  } else {
    const Dd inverse = v.h > 0 ? reciprocal_root(v) : Dd{};
    const Dd s = v * inverse;
    const bool above = s.h > eps || (s.h == eps && s.l > 0);
    if (form.spread == Spread::added) {
      const Dd span = s + eps;
      row.r = reciprocal(span);
      row.pull = span * inverse;
    } else {
      row.r = above ? inverse : reciprocal({eps, 0});
      row.pull = {above ? 1.0 : 0.0, 0};
    }
  }
  if (form.detach_spread) row.pull = {};
}

}  // namespace

Exact64Row exact64_row(const std::vector<double>& x, const RowForm& form) {
  Exact64Row row;
  if (x.empty()) return row;
  const std::size_t part = part_of(form, x.size());
  Deviations deviations = form.centered ? centre(x, row) : as_they_are(x);
  row.xhat.resize(x.size());
  std::vector<Dd>& d = deviations.d;
  const double largest = largest_magnitude(std::vector<Dd>(d.begin(), d.begin() + part));
  if (largest == 0 && form.eps == 0) return row;

  row.e = largest == 0 ? kNone : deviations.shift + exponent_of(largest);
  if (form.eps > 0) {
    const bool root = form.spread == Spread::root;
    row.e = std::max(row.e, root ? half_exponent(form.eps) : exponent_of(form.eps));
  }
  for (Dd& v : d) v = scale(v, deviations.shift - row.e);
  const std::vector<Dd> seen(d.begin(), d.begin() + part);
  const Dd v = sum_of_products(seen, seen) / divisor_of(form, part);
  row.variance = std::scalbn(v.h, 2 * row.e);
  set_spread(v, form, row);
  row.rstd = std::scalbn(row.r.h, -row.e);
  for (std::size_t i = 0; i < d.size(); ++i) row.xhat[i] = d[i] * row.r;
  return row;
}

std::vector<double> exact64_gradient(const std::vector<double>& dy, const std::vector<double>& gain,
                                     const Exact64Row& row, const RowForm& form) {
  const std::size_t part = part_of(form, dy.size());
  std::vector<double> dx(dy.size(), 0.0);
  std::vector<Dd> g(dy.size());
  std::vector<int> exponent(dy.size());
  int E = kNone;
  for (std::size_t k = 0; k < dy.size(); ++k) {
    int i = 0;
    int j = 0;
    const double a = std::frexp(dy[k], &i);
    const double b = gain.empty() ? 1.0 : std::frexp(gain[k], &j);
    g[k] = two_prod(a, b);
    exponent[k] = i + j;
    if (g[k].h != 0) E = std::max(E, i + j);
  }
  if (E == kNone) return dx;

  for (std::size_t k = 0; k < g.size(); ++k) g[k] = scale(g[k], exponent[k] - E);
  Dd sum;
  for (const Dd v : g) sum = sum + v;
  const Dd c1 = form.detach_mean ? Dd{} : sum / static_cast<double>(g.size());
  const Dd c2 = row.pull * (sum_of_products(g, row.xhat) / divisor_of(form, part));
  for (std::size_t k = 0; k < g.size(); ++k) {
    const Dd b = form.centered ? g[k] + -c1 : g[k];
    const Dd t = row.pull.h != 0 && k < part ? b + -(row.xhat[k] * c2) : b;
    dx[k] = std::scalbn((t * row.r).h, E - row.e);
  }
  return dx;
}

}  // namespace equinorm::reference
