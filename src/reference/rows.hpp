// All operators behind one interface: a form of row norm and its parameters.
//
// forward() and backward() walk the rows, choose the path of each and store; the arithmetic is in
// standard.hpp and exact64.hpp, the sums over rows in column_sums.hpp.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "equinorm/context.hpp"
#include "equinorm/grouped_norm.hpp"
#include "equinorm/row_norm.hpp"
#include "equinorm/types.hpp"
#include "standard.hpp"

namespace equinorm::reference {

RowForm layer_norm_form(double eps);
RowForm rms_norm_form(bool add_one, double eps);

struct Parameters {
  RowForm form;
  ConstGroupedVector gamma;
  ConstGroupedVector beta;
  Accuracy accuracy = Accuracy::standard;
  GivenStatistics given;
};

struct SavedStatistics {
  Vector mean;
  Vector tail;
  Vector rstd;
  std::uint8_t* exact = nullptr;
};

struct ForwardCall {
  Parameters parameters;
  ConstGroupedRows x;
  GroupedRows y;
  SavedStatistics statistics;
  Vector mean;
  Vector variance;
  std::optional<DType> compute;  // the compute type, where x and y do not decide it
  std::optional<double> alpha;   // y = alpha * norm(x) + (1 - alpha) * x
};

struct BackwardCall {
  Parameters parameters;
  ConstGroupedRows dy;
  ConstGroupedRows x;
  SavedStatistics statistics;
  GroupedRows dx;
  GroupedVector dgamma;
  GroupedVector dbeta;
  std::optional<DType> compute;
  // What is done with the gradient of a row before it is rounded, instead of storing it in dx; f32
  // where the compute type is f32 and the row is not exact.
  std::function<void(std::int64_t, const std::vector<double>&, bool)> finish;
};

void forward(const ForwardCall& call);
void backward(const BackwardCall& call);

/// Row `r` of all groups in the compute type.
template <class C>
std::vector<C> load_row(const ConstGroupedRows& rows, std::int64_t r);

/// The gain of a row of `group` in C, one for each column, whose normalized elements only an
/// adaptive gain needs; empty where there is none.
template <class C>
std::vector<C> gain_of(const Parameters& parameters, std::int64_t group,
                       const std::vector<C>& xhat);

/// Parameters of a group in C, one for each of `cols` columns; empty where not given.
template <class C>
std::vector<C> load_vector(const ConstGroupedVector& v, std::int64_t group, std::int64_t cols);

/// The given statistics of a group; none where there are none.
Given given_of(const Parameters& parameters, std::int64_t group);

/// Writes `v` to row `r`, rounding each element once from C.
template <class C>
void store_row(const GroupedRows& rows, std::int64_t r, const std::vector<C>& v);

/// xhat of a row on the exact path, rounded to f64.
struct ExactRow {
  std::vector<double> xhat;
  Statistics<double> statistics;
};

/// The exact path of x for the compute type C; NaN throughout where x has a NaN or an infinity.
template <class C>
ExactRow exact_row(const std::vector<C>& x, const Parameters& parameters);

/// dx and terms on the exact path; dx is NaN throughout where x, dy or gain has a NaN or an
/// infinity.
template <class C>
Gradient<double> exact_gradient(const std::vector<C>& dy, const std::vector<C>& x,
                                const Parameters& parameters, std::int64_t group,
                                std::int64_t segment);

}  // namespace equinorm::reference
