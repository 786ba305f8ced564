// The public entry points of every form of row norm, alone and in groups.
#include "equinorm/row_norm.hpp"

#include <algorithm>
#include <cmath>

#include "norm_call.h"

namespace equinorm {

Status row_norm_forward(const RowNormForward& args, Context& context) noexcept {
  ForwardCall call;
  call.form = args.form;
  call.x = grouped(args.x);
  call.gamma = grouped(args.gamma);
  call.beta = grouped(args.beta);
  call.y = grouped(args.y);
  const Status status = check_call(call);
  return status.ok() ? run(call, context) : status;
}

Status row_norm_backward(const RowNormBackward& args, Context& context) noexcept {
  BackwardCall call;
  call.form = args.form;
  call.dy = grouped(args.dy);
  call.x = grouped(args.x);
  call.gamma = grouped(args.gamma);
  call.dx = grouped(args.dx);
  call.dgamma = grouped(args.dgamma);
  call.dbeta = grouped(args.dbeta);
  const Status status = check_call(call);
  return status.ok() ? run(call, context) : status;
}

Status grouped_norm_forward(const GroupedNormForward& args, Context& context) noexcept {
  ForwardCall call;
  call.form = args.form;
  call.x = args.x;
  call.gamma = args.gamma;
  call.beta = args.beta;
  call.given = args.given;
  call.y = args.y;
  call.mean = args.mean;
  call.variance = args.variance;
  const Status status = check_call(call);
  return status.ok() ? run(call, context) : status;
}

Status grouped_norm_backward(const GroupedNormBackward& args, Context& context) noexcept {
  BackwardCall call;
  call.form = args.form;
  call.dy = args.dy;
  call.x = args.x;
  call.gamma = args.gamma;
  call.given = args.given;
  call.dx = args.dx;
  call.dgamma = args.dgamma;
  call.dbeta = args.dbeta;
  const Status status = check_call(call);
  return status.ok() ? run(call, context) : status;
}

kernels::RowForm kernel_form(const NormCall& call) noexcept {
  const RowForm& from = call.form;
  const bool given = call.given.variance.data != nullptr;
  kernels::RowForm form;
  form.spread = static_cast<kernels::Spread>(from.spread);
  form.unbiased = from.unbiased;
  form.detach_mean = from.detach_mean || given;
  form.detach_spread = from.detach_spread || given;
  form.eps = from.eps;
  const double part = std::ceil(from.part * static_cast<double>(call.cols()));
  form.part = from.part == 1 ? call.cols() : std::min(static_cast<std::int64_t>(part), call.cols());
  return form;
}

kernels::Layout kernel_layout(const Arrangement& at, const std::int64_t* column_index) noexcept {
  kernels::Layout layout;
  layout.index = column_index;
  layout.group_rows = std::max<std::int64_t>(at.rows, 1);
  layout.group_stride = at.group_stride;
  layout.row_stride = at.row_stride;
  layout.column_stride = at.column_stride;
  layout.run = at.run > 0 ? at.run : std::max<std::int64_t>(at.cols, 1);
  layout.run_stride = at.run_stride;
  return layout;
}

namespace {

/// The compute type of rows of these types.
template <class... Rows>
DType compute_of(const Rows&... rows) noexcept {
  const bool wide = (... || (rows.data != nullptr && rows.dtype == DType::f64));
  return wide ? DType::f64 : DType::f32;
}

Sharing sharing(const NormCall& call, const ConstGroupedVector& dgamma,
                const ConstGroupedVector& dbeta, const ConstGroupedVector& dgate) noexcept {
  Sharing result;
  result.size = call.cols();
  bool strided = false;
  for (const ConstGroupedVector* v :
       {&call.gamma, &call.beta, &call.gate, &dgamma, &dbeta, &dgate}) {
    if (v->data == nullptr) continue;
    // A scalar gain beside vectors is no segment: it is repeated for every column.
    const bool scalar = call.form.gain == Gain::scalar && (v == &call.gamma || v == &dgamma);
    strided = strided || (v->group_stride != 0 && call.x.at.groups != 1);
    if (!scalar || v->group_stride != 0) result.size = v->size;
  }
  result.by_group = strided;
  if (result.size > 0 && result.size < call.cols()) result.segment = call.cols() / result.size;
  result.grouped = strided || result.segment != 0;
  return result;
}

}  // namespace

DType ForwardCall::compute() const noexcept {
  if (!fused) return compute_type(x.dtype, y.dtype);
  return compute_of(x, y, residual, stream);
}

DType BackwardCall::compute() const noexcept {
  if (!fused) return compute_type(x.dtype, dy.dtype);
  return compute_of(x, dy, dstream, branch, dbranch, dx);
}

Sharing sharing_of(const ForwardCall& call) noexcept { return sharing(call, {}, {}, {}); }
Sharing sharing_of(const BackwardCall& call) noexcept {
  return sharing(call, call.dgamma, call.dbeta, call.dgate);
}

}  // namespace equinorm
