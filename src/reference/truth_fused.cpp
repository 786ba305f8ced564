// A norm and the residual stream around it in exact arithmetic.
//
// The one trap: between the two lies a rounding that is part of what is computed: the norm is that
// of h as it is stored.
#include <limits>

#include "fused.hpp"
#include "numbers.hpp"
#include "philox.hpp"
#include "real.hpp"
#include "rows.hpp"

namespace equinorm::truth {
namespace {

using reference::load_row;
using reference::load_vector;

double smallest_normal(DType compute) { return compute == DType::f64 ? 0x1p-1022 : 0x1p-126; }

// The scale of what is made of a number of C with this one: no error is bounded behind an overflow.
Real bounded(const Real& scale, DType compute) {
  const bool overflows = ilogb(scale.value()) >= (compute == DType::f64 ? 1023 : 127);
  return overflows ? Real(std::numeric_limits<double>::infinity()) : scale;
}

// b of a row: x where kept, times 1 / (1 - p).
std::vector<Real> branch_row(const ConstRows& x, const Dropout& dropout, std::int64_t r) {
  std::vector<Real> b;
  const Real factor = dropout.p < 1 ? Real(1.0) / (Real(1.0) - dropout.p) : Real();
  std::int64_t c = 0;
  for (const double v : load_row<double>(grouped(x), r)) {
    const bool kept = reference::is_kept(dropout, static_cast<std::uint64_t>(r * x.cols + c++));
    b.push_back(kept && !factor.is_zero() ? Real(v) * factor : Real());
  }
  return b;
}

// Rows in f64, which makes that the compute type of a norm of them.
struct Widened {
  std::vector<double> values;
  Rows rows;
  explicit Widened(const ConstRows& v) {
    for (std::int64_t r = 0; r < v.rows; ++r) {
      const std::vector<double> row = load_row<double>(grouped(v), r);
      values.insert(values.end(), row.begin(), row.end());
    }
    rows = {values.data(), DType::f64, v.rows, v.cols, v.cols};
  }
};

Backward norm_of(const FusedNormBackward& args, DType compute) {
  const FusedParameters& p = args.parameters;
  const bool groups = reference::in_groups(args);
  const std::int64_t each = reference::rows_of_group(p, groups, args.stream.rows);
  const Widened wide(args.stream);
  GroupedNormBackward norm;
  norm.form = reference::form_of(args.form, groups);
  norm.dy = reference::rows_of(args.dy, each);
  norm.x = reference::rows_of(compute == DType::f64 ? ConstRows(wide.rows) : args.stream, each);
  norm.gamma = groups ? reference::vector_of(p.scale) : grouped(p.gamma);
  norm.dgamma = groups ? reference::vector_of(args.dscale) : grouped(args.dgamma);
  norm.dbeta = groups ? reference::vector_of(args.dshift) : grouped(args.dbeta);
  return grouped_norm_backward(norm);
}

// Row after row of the gradients around the norm.
class Around {
 public:
  Around(const FusedNormBackward& args, DType compute, FusedBackward& to)
      : args_(args), compute_(compute), floor_(smallest_normal(compute)), to_(to) {
    if (args.parameters.gate.data == nullptr) return;
    gates_ = reference::vector_of(args.parameters.gate);
  }

  void add_row(std::int64_t r, std::vector<Real>* dgate, std::vector<Real>* dgate_scale) {
    const std::vector<Real> d = stream_row(r);
    const Real scale =
        bounded(max(Real(to_.dresidual_scale[static_cast<std::size_t>(r)]), floor_), compute_);
    if (args_.dx.data != nullptr) branch_gradient(r, d, scale);
    if (dgate == nullptr) return;
    const std::vector<Real> b = branch_row(args_.x, args_.dropout, r);
    for (std::size_t i = 0; i < b.size(); ++i) {
      (*dgate)[i].add_product(d[i], b[i]);
      (*dgate_scale)[i].add_product(scale, bounded(max(abs(b[i]), floor_), compute_));
    }
  }

 private:
  // d, which is dresidual.
  std::vector<Real> stream_row(std::int64_t r) {
    const std::int64_t cols = args_.stream.cols;
    std::vector<double> more;
    if (args_.dstream.data != nullptr) more = load_row<double>(grouped(args_.dstream), r);
    std::vector<Real> d;
    Real largest;
    for (std::int64_t i = 0; i < cols; ++i) {
      d.emplace_back(to_.norm.dx[static_cast<std::size_t>(r * cols + i)]);
      if (!more.empty()) {
        d.back() += more[i];
        largest = max(largest, abs(Real(more[i])));
      }
      to_.dresidual.push_back(d.back().value());
    }
    const Real scale = Real(to_.norm.scale[static_cast<std::size_t>(r)]) + largest;
    to_.dresidual_scale.push_back(scale.value());
    return d;
  }

  void branch_gradient(std::int64_t r, const std::vector<Real>& d, const Real& scale) {
    const std::int64_t cols = args_.stream.cols;
    const std::vector<double> gate =
        load_vector<double>(gates_, r / args_.parameters.rows_per_group, cols);
    const double p = args_.dropout.p;
    const Real factor = p < 1 ? Real(1.0) / (Real(1.0) - p) : Real();
    for (std::int64_t i = 0; i < cols; ++i) {
      const bool kept = !factor.is_zero() &&
                        reference::is_kept(args_.dropout, static_cast<std::uint64_t>(r * cols + i));
      const Real share = gate.empty() ? factor : factor * gate[i];
      to_.dx.push_back(kept ? (d[i] * share).value() : Value());
      to_.dx_scale.push_back(kept ? (scale * abs(share)).value() : Value());
    }
  }

  const FusedNormBackward& args_;
  DType compute_;
  ConstGroupedVector gates_;
  Real floor_;
  FusedBackward& to_;
};

}  // namespace

FusedForward fused_norm_forward(const FusedNormForward& args) {
  const FusedParameters& p = args.parameters;
  const bool groups = reference::in_groups(p);
  const std::int64_t each = reference::rows_of_group(p, groups, args.x.rows);
  const DType compute = reference::compute_type_of(args);
  const Real floor = smallest_normal(compute);
  FusedForward result;
  for (std::int64_t r = 0; r < args.x.rows; ++r) {
    const std::vector<Real> b = branch_row(args.x, args.dropout, r);
    const std::vector<double> gate =
        load_vector<double>(reference::vector_of(p.gate), r / p.rows_per_group, args.x.cols);
    std::vector<double> residual(b.size());
    if (args.residual.data != nullptr) residual = load_row<double>(grouped(args.residual), r);
    for (std::size_t i = 0; i < b.size(); ++i) {
      const Real factor = gate.empty() ? 1.0 : gate[i];
      result.h.push_back((factor * b[i] + residual[i]).value());
      result.h_scale.push_back(
          (abs(factor) * bounded(max(abs(b[i]), floor), compute) + abs(Real(residual[i]))).value());
    }
  }
  GroupedNormForward norm;
  norm.form = reference::form_of(args.form, groups);
  norm.x = reference::rows_of(ConstRows(args.stream), each);
  norm.gamma = groups ? reference::vector_of(p.scale) : grouped(p.gamma);
  norm.beta = groups ? reference::vector_of(p.shift) : grouped(p.beta);
  norm.y.dtype = compute;
  result.norm = grouped_norm_forward(norm);
  return result;
}

FusedBackward fused_norm_backward(const FusedNormBackward& args) {
  const DType compute = reference::compute_type_of(args);
  FusedBackward result;
  result.norm = norm_of(args, compute);
  Around around(args, compute, result);
  const std::int64_t rows = args.stream.rows;
  if (args.dgate.data == nullptr) {
    for (std::int64_t r = 0; r < rows; ++r) around.add_row(r, nullptr, nullptr);
    return result;
  }
  const std::int64_t each = args.parameters.rows_per_group;
  for (std::int64_t first = 0; first < rows; first += each) {
    std::vector<Real> dgate(static_cast<std::size_t>(args.stream.cols));
    std::vector<Real> scale(dgate);
    for (std::int64_t r = first; r < first + each; ++r) around.add_row(r, &dgate, &scale);
    for (const Real& v : dgate) result.dgate.push_back(v.value());
    for (const Real& v : scale) result.dgate_scale.push_back(v.value());
  }
  return result;
}

}  // namespace equinorm::truth
