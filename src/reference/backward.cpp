// Backward pass over rows: dx, dgamma and dbeta.
//
// The one trap: which path a row takes must not depend on which gradients are wanted, so the
// standard dx of every row is computed.
#include "column_sums.hpp"
#include "numbers.hpp"
#include "rows.hpp"
#include "standard.hpp"

namespace equinorm::reference {
namespace {

// How parameters and their gradients are shared.
struct Sharing {
  std::int64_t segment = 0;  // columns to a parameter; 0: each has its own
  bool by_group = false;     // each group has gradients of its own

  explicit Sharing(const BackwardCall& call) {
    const std::int64_t cols = call.x.at.cols;
    for (const ConstGroupedVector& v :
         {call.parameters.gamma, ConstGroupedVector(call.dgamma), ConstGroupedVector(call.dbeta)}) {
      if (v.data == nullptr || v.group_stride == 0) continue;
      by_group = by_group || call.x.at.groups > 1;
      if (v.size < cols) segment = cols / v.size;
    }
  }
};

template <class C>
Statistics<C> saved_or_new_statistics(const BackwardCall& call, const std::vector<C>& x,
                                      std::int64_t r) {
  const SavedStatistics& saved = call.statistics;
  const RowForm& form = call.parameters.form;
  if (saved.exact == nullptr) return row_statistics(x, form);
  Statistics<C> statistics;
  if (form.centered) {
    statistics.mean = static_cast<C>(load(saved.mean.data, saved.mean.dtype, r));
    statistics.tail = static_cast<C>(load(saved.tail.data, saved.tail.dtype, r));
  }
  statistics.rstd = static_cast<C>(load(saved.rstd.data, saved.rstd.dtype, r));
  statistics.trusted = saved.exact[r] == 0;
  return statistics;
}

// The two sums over rows that have gradients in common.
template <class C>
struct Sums {
  ColumnSums<C> dgamma;
  ColumnSums<C> dbeta;

  Sums(std::int64_t rows, std::int64_t size) : dgamma(rows, size), dbeta(rows, size) {}
};

// A row with given statistics, in f64.
template <class C>
void given_row(const BackwardCall& call, std::int64_t r, std::int64_t segment, const Given& given,
               const std::vector<C>& x, const std::vector<C>& dy, Sums<C>& sums) {
  const Parameters& parameters = call.parameters;
  const std::vector<double> wide_dy(dy.begin(), dy.end());
  const Statistics<double> statistics = given_statistics(parameters.form, given);
  const std::vector<double> xhat =
      normalize(std::vector<double>(x.begin(), x.end()), statistics, parameters.form);
  const std::vector<double> gain = gain_of(parameters, r / call.x.at.rows, xhat);
  if (segment != 0) {
    Gradient<double> terms;
    add_terms(wide_dy, xhat, segment, terms);
    sums.dgamma.add(terms.dgamma);
    sums.dbeta.add(terms.dbeta);
  } else {
    sums.dgamma.add(dy, x, xhat, true);
    sums.dbeta.add(dy, {}, {}, true);
  }
  if (call.dx.data != nullptr) {
    store_row(call.dx, r, given_gradient(wide_dy, gain, statistics.rstd));
  }
}

template <class C>
void backward_row(const BackwardCall& call, std::int64_t r, std::int64_t segment, Sums<C>& sums) {
  const Parameters& parameters = call.parameters;
  const std::int64_t group = r / call.x.at.rows;
  const std::vector<C> x = load_row<C>(call.x, r);
  const std::vector<C> dy = load_row<C>(call.dy, r);
  if (const Given given = given_of(parameters, group); given.any) {
    return given_row(call, r, segment, given, x, dy, sums);
  }
  const Statistics<C> statistics = saved_or_new_statistics(call, x, r);
  const std::vector<C> xhat = normalize(x, statistics, parameters.form);
  const Gradient<C> gradient = input_gradient(dy, gain_of(parameters, group, xhat), xhat,
                                              statistics, parameters.form, segment);
  const bool exact =
      parameters.accuracy == Accuracy::exact || !statistics.trusted || !gradient.trusted;
  std::vector<double> exact_xhat;
  Gradient<double> exact_result;
  if (exact) {
    exact_xhat = exact_row(x, parameters).xhat;
    exact_result = exact_gradient(dy, x, parameters, group, segment);
  }
  if (segment != 0) {
    sums.dgamma.add(exact ? exact_result.dgamma : gradient.dgamma);
    sums.dbeta.add(exact ? exact_result.dbeta : gradient.dbeta);
  } else {
    sums.dgamma.add(dy, xhat, exact_xhat, exact);
    sums.dbeta.add(dy, {}, {}, exact);
  }
  if (call.finish) {
    const std::vector<double> wide(gradient.dx.begin(), gradient.dx.end());
    return call.finish(r, exact ? exact_result.dx : wide, exact);
  }
  if (call.dx.data == nullptr) return;
  if (exact) {
    store_row(call.dx, r, exact_result.dx);
  } else {
    store_row(call.dx, r, gradient.dx);
  }
}

std::vector<double> total_of(const std::vector<double>& columns) {
  double total = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    total = c == 0 ? columns[0] : total + columns[c];
  }
  return {total};
}

template <class C>
void backward_rows(const BackwardCall& call) {
  const Sharing sharing(call);
  const Arrangement& at = call.x.at;
  const std::int64_t groups = sharing.by_group ? at.groups : 1;
  const std::int64_t rows = groups > 0 ? at.groups * at.rows / groups : 0;
  const std::int64_t size = sharing.segment != 0 ? at.cols / sharing.segment : at.cols;
  for (std::int64_t group = 0; group < groups; ++group) {
    Sums<C> sums(rows, size);
    for (std::int64_t r = group * rows; r < (group + 1) * rows; ++r) {
      backward_row(call, r, sharing.segment, sums);
    }
    const std::vector<double> dgamma = sums.dgamma.result();
    const bool scalar = call.parameters.form.gain == Gain::scalar && sharing.segment == 0;
    store_vector(call.dgamma, group, scalar ? total_of(dgamma) : dgamma);
    store_vector(call.dbeta, group, sums.dbeta.result());
  }
}

}  // namespace

void backward(const BackwardCall& call) {
  const DType c = call.compute.value_or(compute_type(call.x.dtype, call.dy.dtype));
  with_compute_type(c, [&]<class C>(C) { backward_rows<C>(call); });
}

}  // namespace equinorm::reference
