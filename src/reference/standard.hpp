// One row in standard mode and its trust: sections 3 and 4 of docs/numerics.md.
//
// With C = double the same functions are the exact path of f32 rows, where only "rstd = 0 if
// 1/rstd <= 0" differs. The one trap: rows that are not centred never see a mean.
#pragma once

#include <cstdint>
#include <vector>

#include "equinorm/row_norm.hpp"

namespace equinorm::reference {

/// Statistics of a row. The mean is mean + tail, 0 where not centred.
template <class C>
struct Statistics {
  C mean = 0;
  C tail = 0;
  C rstd = 0;
  double center = 0;    // the mean in f64
  double variance = 0;  // v of the contract
  double pull = 1;
  bool trusted = true;
};

/// Mean and variance that a row is normalized with instead of its own.
struct Given {
  bool any = false;
  double mean = 0;
  double variance = 0;
};

/// Statistics that are given, and dx with them: element by element, in f64 for every type.
Statistics<double> given_statistics(const RowForm& form, const Given& given);
std::vector<double> given_gradient(const std::vector<double>& dy, const std::vector<double>& gain,
                                   double rstd);

/// Columns that the statistics are of.
std::size_t part_of(const RowForm& form, std::size_t columns);

/// N of the contract: what the squares of `columns` deviations are divided by.
double divisor_of(const RowForm& form, std::size_t columns);

template <class C>
Statistics<C> row_statistics(const std::vector<C>& x, const RowForm& form);

template <class C>
std::vector<C> normalize(const std::vector<C>& x, const Statistics<C>& statistics,
                         const RowForm& form);

/// fma(xhat, gain, beta), or what is left of it without gain or beta (null).
template <class C>
C scale_and_shift(C xhat, const C* gain, const C* beta);

/// dx of a row, whether the row may be trusted with it, and where columns share parameters by
/// segments the row's terms of dgamma and dbeta.
template <class C>
struct Gradient {
  std::vector<C> dx;
  std::vector<double> dgamma;
  std::vector<double> dbeta;
  bool trusted = true;
};

/// The terms of a row by segments, in f64: those of a row without gain or with given statistics.
template <class C>
void add_terms(const std::vector<C>& dy, const std::vector<C>& xhat, std::int64_t segment,
               Gradient<C>& result);

/// `gain` is empty where there is none; `segment` is 0 where each column has a parameter of its
/// own.
template <class C>
Gradient<C> input_gradient(const std::vector<C>& dy, const std::vector<C>& gain,
                           const std::vector<C>& xhat, const Statistics<C>& statistics,
                           const RowForm& form, std::int64_t segment);

}  // namespace equinorm::reference
