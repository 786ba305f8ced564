// Loading and storing rows, and the exact path of a row for either compute type.
#include "rows.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

#include "exact64.hpp"
#include "numbers.hpp"
#include "standard.hpp"

namespace equinorm::reference {
namespace {

template <class C>
bool all_finite(const std::vector<C>& v) {
  for (const C a : v) {
    if (!std::isfinite(a)) return false;
  }
  return true;
}

template <class C>
std::vector<double> widen(const std::vector<C>& v) {
  return {v.begin(), v.end()};
}

}  // namespace

template <class C>
std::vector<C> load_row(const ConstRows& rows, std::int64_t r) {
  std::vector<C> v(rows.cols);
  for (std::int64_t c = 0; c < rows.cols; ++c) {
    v[c] = static_cast<C>(load(rows.data, rows.dtype, r * rows.row_stride + c));
  }
  return v;
}

template <class C>
std::vector<C> load_vector(const ConstVector& v) {
  std::vector<C> result;
  if (v.data == nullptr) return result;
  for (std::int64_t c = 0; c < v.size; ++c) {
    result.push_back(static_cast<C>(load(v.data, v.dtype, c)));
  }
  return result;
}

template <class C>
std::vector<C> gain_of(const Parameters& parameters, const std::vector<C>& xhat) {
  const RowForm& form = parameters.form;
  if (form.gain == Gain::adaptive) {
    const C height = static_cast<C>(form.scale);
    const C slope = static_cast<C>(form.scale * form.slope);
    std::vector<C> gain;
    for (const C v : xhat) gain.push_back(std::fma(-slope, v, height));
    return gain;
  }
  std::vector<C> gain = load_vector<C>(parameters.gamma);
  if (form.gain == Gain::scalar && !gain.empty()) gain.assign(xhat.size(), gain[0]);
  if (form.gain == Gain::one_plus) {
    for (C& v : gain) v = C{1} + v;
  }
  return gain;
}

template <class C>
void store_row(const Rows& rows, std::int64_t r, const std::vector<C>& v) {
  for (std::int64_t c = 0; c < rows.cols; ++c) {
    store(rows.data, rows.dtype, r * rows.row_stride + c, v[c]);
  }
}

template <class C>
ExactRow exact_row(const std::vector<C>& x, const Parameters& parameters) {
  ExactRow result;
  if (!all_finite(x)) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {std::vector<double>(x.size(), nan), {nan, nan, nan}};
  }
  if constexpr (std::is_same_v<C, double>) {
    const Exact64Row row = exact64_row(x, parameters.form);
    for (const Dd v : row.xhat) result.xhat.push_back(v.h);
    result.statistics = {row.mean, row.tail, row.rstd};
  } else {
    const std::vector<double> wide = widen(x);
    result.statistics = row_statistics(wide, parameters.form);
    result.xhat = normalize(wide, result.statistics, parameters.form);
  }
  return result;
}

template <class C>
std::vector<double> exact_gradient(const std::vector<C>& dy, const std::vector<C>& x,
                                   const Parameters& parameters) {
  const std::vector<double> nan(x.size(), std::numeric_limits<double>::quiet_NaN());
  if (!all_finite(x) || !all_finite(dy)) return nan;
  const ExactRow row = exact_row(x, parameters);
  const std::vector<double> gain = gain_of(parameters, row.xhat);
  if (!all_finite(gain)) return nan;
  if constexpr (std::is_same_v<C, double>) {
    return exact64_gradient(dy, gain, exact64_row(x, parameters.form), parameters.form);
  } else {
    return input_gradient(widen(dy), gain, row.xhat, row.statistics, parameters.form).dx;
  }
}

template std::vector<float> load_row(const ConstRows&, std::int64_t);
template std::vector<double> load_row(const ConstRows&, std::int64_t);
template std::vector<float> load_vector(const ConstVector&);
template std::vector<double> load_vector(const ConstVector&);
template std::vector<float> gain_of(const Parameters&, const std::vector<float>&);
template std::vector<double> gain_of(const Parameters&, const std::vector<double>&);
template void store_row(const Rows&, std::int64_t, const std::vector<float>&);
template void store_row(const Rows&, std::int64_t, const std::vector<double>&);
template ExactRow exact_row(const std::vector<float>&, const Parameters&);
template ExactRow exact_row(const std::vector<double>&, const Parameters&);
template std::vector<double> exact_gradient(const std::vector<float>&, const std::vector<float>&,
                                            const Parameters&);
template std::vector<double> exact_gradient(const std::vector<double>&, const std::vector<double>&,
                                            const Parameters&);

}  // namespace equinorm::reference
