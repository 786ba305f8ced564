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

namespace {

// Where element (r, c) lies, r counted over all groups.
std::int64_t place_of(const Arrangement& at, std::int64_t r, std::int64_t c) {
  const std::int64_t run = at.run > 0 ? at.run : at.cols;
  return r / at.rows * at.group_stride + r % at.rows * at.row_stride + c / run * at.run_stride +
         c % run * at.column_stride;
}

}  // namespace

template <class C>
std::vector<C> load_row(const ConstGroupedRows& rows, std::int64_t r) {
  std::vector<C> v(rows.at.cols);
  for (std::int64_t c = 0; c < rows.at.cols; ++c) {
    v[c] = static_cast<C>(load(rows.data, rows.dtype, place_of(rows.at, r, c)));
  }
  return v;
}

template <class C>
std::vector<C> load_vector(const ConstGroupedVector& v, std::int64_t group, std::int64_t cols) {
  std::vector<C> result;
  if (v.data == nullptr) return result;
  for (std::int64_t c = 0; c < cols; ++c) {
    const std::int64_t k = group * v.group_stride + c / (cols / v.size);
    result.push_back(static_cast<C>(load(v.data, v.dtype, k)));
  }
  return result;
}

Given given_of(const Parameters& parameters, std::int64_t group) {
  Given given;
  const GivenStatistics& from = parameters.given;
  if (from.variance.data == nullptr) return given;
  given.any = true;
  given.variance = load(from.variance.data, from.variance.dtype, group);
  if (from.mean.data != nullptr) given.mean = load(from.mean.data, from.mean.dtype, group);
  return given;
}

template <class C>
std::vector<C> gain_of(const Parameters& parameters, std::int64_t group,
                       const std::vector<C>& xhat) {
  const RowForm& form = parameters.form;
  if (form.gain == Gain::adaptive) {
    const C height = static_cast<C>(form.scale);
    const C slope = static_cast<C>(form.scale * form.slope);
    std::vector<C> gain;
    for (const C v : xhat) gain.push_back(std::fma(-slope, v, height));
    return gain;
  }
  std::vector<C> gain = load_vector<C>(parameters.gamma, group, std::ssize(xhat));
  if (form.gain == Gain::one_plus) {
    for (C& v : gain) v = C{1} + v;
  }
  return gain;
}

template <class C>
void store_row(const GroupedRows& rows, std::int64_t r, const std::vector<C>& v) {
  for (std::int64_t c = 0; c < rows.at.cols; ++c) {
    store(rows.data, rows.dtype, place_of(rows.at, r, c), v[c]);
  }
}

template <class C>
ExactRow exact_row(const std::vector<C>& x, const Parameters& parameters) {
  ExactRow result;
  if (!all_finite(x)) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {std::vector<double>(x.size(), nan), {nan, nan, nan, nan, nan}};
  }
  if constexpr (std::is_same_v<C, double>) {
    const Exact64Row row = exact64_row(x, parameters.form);
    for (const Dd v : row.xhat) result.xhat.push_back(v.h);
    result.statistics = {row.mean, row.tail, row.rstd, row.mean, row.variance};
  } else {
    const std::vector<double> wide = widen(x);
    result.statistics = row_statistics(wide, parameters.form);
    result.xhat = normalize(wide, result.statistics, parameters.form);
  }
  return result;
}

template <class C>
Gradient<double> exact_gradient(const std::vector<C>& dy, const std::vector<C>& x,
                                const Parameters& parameters, std::int64_t group,
                                std::int64_t segment) {
  const RowForm& form = parameters.form;
  const ExactRow row = exact_row(x, parameters);
  const std::vector<double> gain = gain_of(parameters, group, row.xhat);
  Gradient<double> result =
      input_gradient(widen(dy), gain, row.xhat, row.statistics, form, segment);
  if (!all_finite(x) || !all_finite(dy) || !all_finite(gain)) {
    result.dx.assign(x.size(), std::numeric_limits<double>::quiet_NaN());
  } else if constexpr (std::is_same_v<C, double>) {
    result.dx = exact64_gradient(dy, gain, exact64_row(x, form), form);
  }
  return result;
}

template std::vector<float> load_row(const ConstGroupedRows&, std::int64_t);
template std::vector<double> load_row(const ConstGroupedRows&, std::int64_t);
template std::vector<float> load_vector(const ConstGroupedVector&, std::int64_t, std::int64_t);
template std::vector<double> load_vector(const ConstGroupedVector&, std::int64_t, std::int64_t);
template std::vector<float> gain_of(const Parameters&, std::int64_t, const std::vector<float>&);
template std::vector<double> gain_of(const Parameters&, std::int64_t, const std::vector<double>&);
template void store_row(const GroupedRows&, std::int64_t, const std::vector<float>&);
template void store_row(const GroupedRows&, std::int64_t, const std::vector<double>&);
template ExactRow exact_row(const std::vector<float>&, const Parameters&);
template ExactRow exact_row(const std::vector<double>&, const Parameters&);
template Gradient<double> exact_gradient(const std::vector<float>&, const std::vector<float>&,
                                         const Parameters&, std::int64_t, std::int64_t);
template Gradient<double> exact_gradient(const std::vector<double>&, const std::vector<double>&,
                                         const Parameters&, std::int64_t, std::int64_t);

}  // namespace equinorm::reference
