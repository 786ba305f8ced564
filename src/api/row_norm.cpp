// The public entry points of every form of row norm, alone and in groups.
#include "equinorm/row_norm.hpp"

#include <algorithm>
#include <cmath>

#include "norm_call.h"

namespace equinorm {

namespace {

template <class Call>
Status check_and_run(const Call& call, Context& context) noexcept {
  const Status status = check_call(call);
  return status.ok() ? run(call, context) : status;
}

}  // namespace

Status row_norm_forward(const RowNormForward& args, Context& context) noexcept {
  return check_and_run(forward_call(args), context);
}

Status row_norm_backward(const RowNormBackward& args, Context& context) noexcept {
  return check_and_run(backward_call(args), context);
}

Status grouped_norm_forward(const GroupedNormForward& args, Context& context) noexcept {
  ForwardCall call = forward_call(args);
  call.given = args.given;
  call.mean = args.mean;
  call.variance = args.variance;
  return check_and_run(call, context);
}

Status grouped_norm_backward(const GroupedNormBackward& args, Context& context) noexcept {
  BackwardCall call = backward_call(args);
  call.given = args.given;
  return check_and_run(call, context);
}

kernels::RowForm kernel_form(const NormCall& call) noexcept {
  const RowForm& from = call.form;
  kernels::RowForm form;
  form.spread = static_cast<kernels::Spread>(from.spread);
  form.unbiased = from.unbiased;
  form.detach_mean = from.detach_mean;
  form.detach_spread = from.detach_spread;
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
