// All operators behind one interface: a form of row norm and its parameters.
//
// forward() and backward() walk the rows, choose the path of each and store; the arithmetic is in
// standard.hpp and exact64.hpp, the sums over rows in column_sums.hpp.
#pragma once

#include <vector>

#include "equinorm/context.hpp"
#include "equinorm/row_norm.hpp"
#include "equinorm/types.hpp"
#include "standard.hpp"

namespace equinorm::reference {

RowForm layer_norm_form(double eps);
RowForm rms_norm_form(bool add_one, double eps);

struct Parameters {
  RowForm form;
  ConstVector gamma;
  ConstVector beta;
  Accuracy accuracy = Accuracy::standard;
};

struct SavedStatistics {
  Vector mean;
  Vector tail;
  Vector rstd;
  std::uint8_t* exact = nullptr;
};

struct ForwardCall {
  Parameters parameters;
  ConstRows x;
  Rows y;
  SavedStatistics statistics;
};

struct BackwardCall {
  Parameters parameters;
  ConstRows dy;
  ConstRows x;
  SavedStatistics statistics;
  Rows dx;
  Vector dgamma;
  Vector dbeta;
};

void forward(const ForwardCall& call);
void backward(const BackwardCall& call);

/// Row `r` in the compute type.
template <class C>
std::vector<C> load_row(const ConstRows& rows, std::int64_t r);

/// The gain of a row in C, whose normalized elements only an adaptive gain needs; empty where there
/// is none.
template <class C>
std::vector<C> gain_of(const Parameters& parameters, const std::vector<C>& xhat);

template <class C>
std::vector<C> load_vector(const ConstVector& v);

/// Writes `v` to row `r`, rounding each element once from C.
template <class C>
void store_row(const Rows& rows, std::int64_t r, const std::vector<C>& v);

/// xhat of a row on the exact path, rounded to f64.
struct ExactRow {
  std::vector<double> xhat;
  Statistics<double> statistics;
};

/// The exact path of x for the compute type C; NaN throughout where x has a NaN or an infinity.
template <class C>
ExactRow exact_row(const std::vector<C>& x, const Parameters& parameters);

/// dx on the exact path; NaN throughout where x, dy or gain has a NaN or an infinity.
template <class C>
std::vector<double> exact_gradient(const std::vector<C>& dy, const std::vector<C>& x,
                                   const Parameters& parameters);

}  // namespace equinorm::reference
