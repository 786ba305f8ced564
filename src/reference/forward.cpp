// Forward pass over rows: y and the saved statistics.
#include <cmath>
#include <optional>
#include <tuple>

#include "numbers.hpp"
#include "rows.hpp"
#include "standard.hpp"

namespace equinorm::reference {
namespace {

template <class T>
const T* element_or_null(const std::vector<T>& v, std::size_t i) {
  return v.empty() ? nullptr : &v[i];
}

template <class T>
void save(const ForwardCall& call, std::int64_t r, const Statistics<T>& statistics, bool exact) {
  const SavedStatistics& saved = call.statistics;
  const auto [mean, tail, rstd] =
      std::tuple<double, double, double>(statistics.mean, statistics.tail, statistics.rstd);
  if (call.mean.data != nullptr) store(call.mean.data, DType::f64, r, statistics.center);
  if (call.variance.data != nullptr) {
    store(call.variance.data, DType::f64, r, statistics.variance);
  }
  if (saved.mean.data != nullptr) store(saved.mean.data, saved.mean.dtype, r, mean);
  if (saved.tail.data != nullptr) store(saved.tail.data, saved.tail.dtype, r, tail);
  if (saved.rstd.data != nullptr) store(saved.rstd.data, saved.rstd.dtype, r, rstd);
  if (saved.exact != nullptr) saved.exact[r] = exact ? 1 : 0;
}

// y of a row from xhat, computed and rounded in T: C in standard mode, double on the exact path.
template <class T>
std::vector<T> affine(const std::vector<T>& xhat, const Parameters& parameters,
                      std::int64_t group) {
  const std::vector<T> gain = gain_of(parameters, group, xhat);
  const std::vector<T> beta = load_vector<T>(parameters.beta, group, std::ssize(xhat));
  std::vector<T> y(xhat.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = scale_and_shift(xhat[i], element_or_null(gain, i), element_or_null(beta, i));
  }
  return y;
}

// y = fma(alpha, y, (1 - alpha) * x) in T.
template <class T, class C>
std::vector<T> blended(std::vector<T> y, const std::vector<C>& x, std::optional<double> alpha) {
  if (!alpha) return y;
  const T a = static_cast<T>(*alpha);
  const T rest = 1 - a;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::fma(a, y[i], rest * static_cast<T>(x[i]));
  return y;
}

template <class C>
void forward_row(const ForwardCall& call, std::int64_t r) {
  const Parameters& parameters = call.parameters;
  const std::vector<C> x = load_row<C>(call.x, r);
  if (x.empty()) return save(call, r, Statistics<C>(), false);
  const std::int64_t group = r / call.x.at.rows;
  if (const Given given = given_of(parameters, group); given.any) {
    const std::vector<double> wide(x.begin(), x.end());
    const Statistics<double> statistics = given_statistics(parameters.form, given);
    const std::vector<double> xhat = normalize(wide, statistics, parameters.form);
    store_row(call.y, r, blended(affine(xhat, parameters, group), x, call.alpha));
    return save(call, r, statistics, false);
  }
  const Statistics<C> statistics = row_statistics(x, parameters.form);
  if (statistics.trusted && parameters.accuracy == Accuracy::standard) {
    const std::vector<C> xhat = normalize(x, statistics, parameters.form);
    store_row(call.y, r, blended(affine(xhat, parameters, group), x, call.alpha));
    save(call, r, statistics, false);
  } else {
    const ExactRow row = exact_row(x, parameters);
    store_row(call.y, r, blended(affine(row.xhat, parameters, group), x, call.alpha));
    save(call, r, row.statistics, true);
  }
}

}  // namespace

void forward(const ForwardCall& call) {
  const DType c = call.compute.value_or(compute_type(call.x.dtype, call.y.dtype));
  with_compute_type(c, [&]<class C>(C) {
    const std::int64_t rows = call.x.at.groups * call.x.at.rows;
    for (std::int64_t r = 0; r < rows; ++r) forward_row<C>(call, r);
  });
}

}  // namespace equinorm::reference
