// The residual stream around a norm: sections 8 and 9 of docs/numerics.md.
//
// The one trap: b, the branch behind dropout, is a number of C even where the row's gradient is
// f64.
#include <cmath>
#include <limits>

#include "column_sums.hpp"
#include "equinorm/reference.hpp"
#include "fused.hpp"
#include "numbers.hpp"
#include "philox.hpp"
#include "quantize.hpp"
#include "rows.hpp"

namespace equinorm::reference {
namespace {

// b of a row: x where kept, times 1 / (1 - p).
template <class C>
std::vector<C> branch_row(const ConstRows& x, const Dropout& dropout, std::int64_t r) {
  std::vector<C> b = load_row<C>(grouped(x), r);
  if (dropout.p == 0) return b;
  const C scale = static_cast<C>(kept_scale(dropout));
  for (std::int64_t c = 0; c < x.cols; ++c) {
    const bool kept = is_kept(dropout, static_cast<std::uint64_t>(r * x.cols + c));
    b[c] = kept && scale != 0 ? b[c] * scale : C{0};
  }
  return b;
}

template <class C>
std::vector<C> stream_row(const FusedNormForward& args, std::int64_t r) {
  const FusedParameters& p = args.parameters;
  std::vector<C> h = branch_row<C>(args.x, args.dropout, r);
  const std::vector<C> gate = load_vector<C>(vector_of(p.gate), r / p.rows_per_group, args.x.cols);
  std::vector<C> residual;
  if (args.residual.data != nullptr) residual = load_row<C>(grouped(args.residual), r);
  for (std::size_t i = 0; i < h.size(); ++i) {
    if (!gate.empty() && !residual.empty()) {
      h[i] = std::fma(gate[i], h[i], residual[i]);
    } else if (!gate.empty()) {
      h[i] = gate[i] * h[i];
    } else if (!residual.empty()) {
      h[i] = h[i] + residual[i];
    }
  }
  return h;
}

// d in S, the type that the row's gradient is computed in; then its shares.
template <class C, class S>
void finish_row(const FusedNormBackward& args, std::int64_t r, const std::vector<double>& dx,
                ColumnSums<C>* dgate) {
  const FusedParameters& p = args.parameters;
  std::vector<S> d(dx.begin(), dx.end());
  if (args.dstream.data != nullptr) {
    const std::vector<S> more = load_row<S>(grouped(args.dstream), r);
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = d[i] + more[i];
  }
  if (args.dresidual.data != nullptr) store_row(grouped(args.dresidual), r, d);
  if (args.dx.data != nullptr) {
    const std::vector<C> gate =
        load_vector<C>(vector_of(p.gate), r / p.rows_per_group, std::ssize(d));
    const S scale = static_cast<S>(kept_scale(args.dropout));
    std::vector<S> share(d);
    for (std::int64_t i = 0; i < std::ssize(d); ++i) {
      if (!gate.empty()) share[i] = share[i] * static_cast<S>(gate[i]);
      if (args.dropout.p == 0) continue;
      const bool kept = is_kept(args.dropout, static_cast<std::uint64_t>(r * std::ssize(d) + i));
      share[i] = kept && scale != 0 ? share[i] * scale : S{0};
    }
    store_row(grouped(args.dx), r, share);
  }
  if (dgate != nullptr) {
    const std::vector<C> b = branch_row<C>(args.x, args.dropout, r);
    dgate->add_products({d.begin(), d.end()}, {b.begin(), b.end()});
  }
}

}  // namespace

void fused_norm_forward(const FusedNormForward& args, Accuracy accuracy) {
  const FusedParameters& p = args.parameters;
  const bool groups = in_groups(p);
  const std::int64_t each = rows_of_group(p, groups, args.x.rows);
  const DType c = compute_type_of(args);
  with_compute_type(c, [&]<class C>(C) {
    const std::int64_t rows = args.x.rows;
    const std::int64_t cols = args.x.cols;
    std::vector<C> unstored(static_cast<std::size_t>(rows * cols));
    std::vector<C> y(args.quantized.data != nullptr ? unstored.size() : 0);
    Rows h = args.stream;
    if (h.data == nullptr) h = {unstored.data(), c, rows, cols, cols};
    // Rows first, as the stream may lie on an input.
    for (std::int64_t r = 0; r < rows; ++r) store_row(grouped(h), r, stream_row<C>(args, r));
    Rows out = args.y;
    if (args.quantized.data != nullptr) out = {y.data(), c, rows, cols, cols};
    ForwardCall call;
    call.parameters = {form_of(args.form, groups),
                       groups ? vector_of(p.scale) : grouped(p.gamma),
                       groups ? vector_of(p.shift) : grouped(p.beta),
                       accuracy,
                       {}};
    call.x = rows_of(ConstRows(h), each);
    call.y = rows_of(out, each);
    call.compute = c;
    forward(call);
    if (args.quantized.data != nullptr) quantize_rows(y, args.quantized);
  });
}

void fused_norm_backward(const FusedNormBackward& args, Accuracy accuracy) {
  const FusedParameters& p = args.parameters;
  const bool groups = in_groups(args);
  const std::int64_t rows = args.stream.rows;
  const std::int64_t each = rows_of_group(p, groups, rows);
  const DType c = compute_type_of(args);
  with_compute_type(c, [&]<class C>(C) {
    std::vector<ColumnSums<C>> dgate;
    if (args.dgate.data != nullptr) {
      for (std::int64_t g = 0; g < rows / each; ++g) dgate.emplace_back(each, args.stream.cols);
    }
    BackwardCall call;
    call.parameters = {form_of(args.form, groups),
                       groups ? vector_of(p.scale) : grouped(p.gamma),
                       {},
                       accuracy,
                       {}};
    call.dy = rows_of(args.dy, each);
    call.x = rows_of(args.stream, each);
    call.dgamma = groups ? vector_of(args.dscale) : grouped(args.dgamma);
    call.dbeta = groups ? vector_of(args.dshift) : grouped(args.dbeta);
    call.compute = c;
    call.finish = [&](std::int64_t r, const std::vector<double>& dx, bool exact) {
      ColumnSums<C>* sums = dgate.empty() ? nullptr : &dgate[r / each];
      if (exact) {
        finish_row<C, double>(args, r, dx, sums);
      } else {
        finish_row<C, C>(args, r, dx, sums);
      }
    };
    backward(call);
    for (std::size_t g = 0; g < dgate.size(); ++g) {
      store_vector(vector_of(args.dgate), static_cast<std::int64_t>(g), dgate[g].result());
    }
  });
}

}  // namespace equinorm::reference
