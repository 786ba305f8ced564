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

template <class C>
void backward_rows(const BackwardCall& call) {
  const Parameters& parameters = call.parameters;
  ColumnSums<C> dgamma(call.x.rows, call.x.cols);
  ColumnSums<C> dbeta(call.x.rows, call.x.cols);
  for (std::int64_t r = 0; r < call.x.rows; ++r) {
    const std::vector<C> x = load_row<C>(call.x, r);
    const std::vector<C> dy = load_row<C>(call.dy, r);
    const Statistics<C> statistics = saved_or_new_statistics(call, x, r);
    const std::vector<C> xhat = normalize(x, statistics, parameters.form);
    const Gradient<C> gradient =
        input_gradient(dy, gain_of(parameters, xhat), xhat, statistics, parameters.form);
    const bool exact =
        parameters.accuracy == Accuracy::exact || !statistics.trusted || !gradient.trusted;
    std::vector<double> exact_xhat;
    if (exact) exact_xhat = exact_row(x, parameters).xhat;
    if (call.dgamma.data != nullptr) dgamma.add(dy, xhat, exact_xhat, exact);
    if (call.dbeta.data != nullptr) dbeta.add(dy, {}, {}, exact);
    if (call.dx.data == nullptr) continue;
    if (exact) {
      store_row(call.dx, r, exact_gradient(dy, x, parameters));
    } else {
      store_row(call.dx, r, gradient.dx);
    }
  }
  std::vector<double> gain_gradient = dgamma.result();
  if (parameters.form.gain == Gain::scalar) {
    double total = 0;
    for (std::size_t c = 0; c < gain_gradient.size(); ++c) {
      total = c == 0 ? gain_gradient[0] : total + gain_gradient[c];
    }
    gain_gradient = {total};
  }
  store_vector(call.dgamma, gain_gradient);
  store_vector(call.dbeta, dbeta.result());
}

}  // namespace

void backward(const BackwardCall& call) {
  with_compute_type(compute_type(call.x.dtype, call.dy.dtype),
                    [&]<class C>(C) { backward_rows<C>(call); });
}

}  // namespace equinorm::reference
