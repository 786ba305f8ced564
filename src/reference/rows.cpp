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

Statistics<double> widened_statistics(const std::vector<double>& x, const Parameters& parameters) {
  return parameters.centred ? layer_norm_statistics(x, parameters.eps)
                            : rms_norm_statistics(x, parameters.eps);
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
std::vector<C> load_gain(const Parameters& parameters) {
  std::vector<C> gain = load_vector<C>(parameters.gamma);
  for (C& v : gain) v = parameters.add_one ? C{1} + v : v;
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
    return {std::vector<double>(x.size(), nan), nan, nan, nan};
  }
  if constexpr (std::is_same_v<C, double>) {
    const Exact64Row row = exact64_row(x, parameters.eps, parameters.centred);
    for (const Dd v : row.xhat) result.xhat.push_back(v.h);
    result.mean = row.mean;
    result.tail = row.tail;
    result.rstd = row.rstd;
  } else {
    const std::vector<double> wide = widen(x);
    const Statistics<double> statistics = widened_statistics(wide, parameters);
    result.xhat = normalize(wide, statistics, parameters.centred);
    result.mean = statistics.mean;
    result.tail = statistics.tail;
    result.rstd = statistics.rstd;
  }
  return result;
}

template <class C>
std::vector<double> exact_gradient(const std::vector<C>& dy, const std::vector<C>& x,
                                   const Parameters& parameters) {
  const std::vector<double> gain = load_gain<double>(parameters);
  if (!all_finite(x) || !all_finite(dy) || !all_finite(gain)) {
    return std::vector<double>(x.size(), std::numeric_limits<double>::quiet_NaN());
  }
  if constexpr (std::is_same_v<C, double>) {
    const Exact64Row row = exact64_row(x, parameters.eps, parameters.centred);
    return exact64_gradient(dy, gain, row, parameters.centred);
  } else {
    const ExactRow row = exact_row(x, parameters);
    return input_gradient(widen(dy), gain, row.xhat, row.rstd, parameters.centred).dx;
  }
}

template std::vector<float> load_row(const ConstRows&, std::int64_t);
template std::vector<double> load_row(const ConstRows&, std::int64_t);
template std::vector<float> load_vector(const ConstVector&);
template std::vector<double> load_vector(const ConstVector&);
template std::vector<float> load_gain(const Parameters&);
template std::vector<double> load_gain(const Parameters&);
template void store_row(const Rows&, std::int64_t, const std::vector<float>&);
template void store_row(const Rows&, std::int64_t, const std::vector<double>&);
template ExactRow exact_row(const std::vector<float>&, const Parameters&);
template ExactRow exact_row(const std::vector<double>&, const Parameters&);
template std::vector<double> exact_gradient(const std::vector<float>&, const std::vector<float>&,
                                            const Parameters&);
template std::vector<double> exact_gradient(const std::vector<double>&, const std::vector<double>&,
                                            const Parameters&);

}  // namespace equinorm::reference
