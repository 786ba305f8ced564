// A call of any norm in one form, between the public argument structs and the kernels: the
// operators differ in the fields they fill, not in how they are checked and run.
#pragma once

#include "equinorm/context.hpp"
#include "equinorm/fused_norm.hpp"
#include "equinorm/grouped_norm.hpp"
#include "equinorm/row_norm.hpp"
#include "equinorm/status.hpp"
#include "equinorm/types.hpp"
#include "kernels/kernel_types.h"

namespace equinorm {

struct NormStatistics {
  Vector mean;
  Vector mean_tail;
  Vector rstd;
  std::uint8_t* exact = nullptr;
};

/// Parts that both directions have.
struct NormCall {
  RowForm form;
  ConstGroupedRows x;
  ConstGroupedVector gamma;
  ConstGroupedVector beta;
  GivenStatistics given;
  /// Column c is where column column_index[c] of the arrangements would be; null: where c is.
  const std::int64_t* column_index = nullptr;
  NormStatistics statistics;
  /// The residual stream around the norm, where there is one.
  bool fused = false;
  Dropout dropout;
  ConstGroupedVector gate;
  /// y = alpha * norm(x) + (1 - alpha) * x; backward needs fused, and dgate is the sum of dy * x.
  kernels::Blend blend;

  [[nodiscard]] std::int64_t rows() const noexcept { return x.at.groups * x.at.rows; }
  [[nodiscard]] std::int64_t cols() const noexcept { return x.at.cols; }
};

struct ForwardCall : NormCall {
  GroupedRows y;  ///< data null where quantized
  bool is_quantized = false;
  QuantizedRows quantized;
  Vector mean;      ///< of the rows, f64
  Vector variance;  ///< likewise
  ConstGroupedRows residual;
  GroupedRows stream;

  [[nodiscard]] DType compute() const noexcept;
};

struct BackwardCall : NormCall {
  ConstGroupedRows dy;
  GroupedRows dx;
  GroupedVector dgamma;
  GroupedVector dbeta;
  ConstGroupedRows dstream;
  ConstGroupedRows branch;  ///< x of the branch; `x` is the stream
  GroupedRows dbranch;      ///< its gradient; `dx` is that of the residual
  GroupedVector dgate;

  [[nodiscard]] DType compute() const noexcept;
};

/// Calls from the arguments that the operators name alike.
template <class Args>
ForwardCall forward_call(const Args& args) noexcept {
  ForwardCall call;
  call.form = args.form;
  call.x = grouped(args.x);
  call.gamma = grouped(args.gamma);
  call.beta = grouped(args.beta);
  call.y = grouped(args.y);
  return call;
}
template <class Args>
BackwardCall backward_call(const Args& args) noexcept {
  BackwardCall call;
  call.form = args.form;
  call.dy = grouped(args.dy);
  call.x = grouped(args.x);
  call.gamma = grouped(args.gamma);
  call.dx = grouped(args.dx);
  call.dgamma = grouped(args.dgamma);
  call.dbeta = grouped(args.dbeta);
  return call;
}

Status check_call(const ForwardCall& call) noexcept;
Status check_call(const BackwardCall& call) noexcept;

/// For checked calls.
Status run(const ForwardCall& call, Context& context) noexcept;
Status run(const BackwardCall& call, Context& context) noexcept;

/// How the parameters of a call are shared among its columns and groups.
struct Sharing {
  std::int64_t size = 0;     ///< parameters of a group
  std::int64_t segment = 0;  ///< columns to a parameter, 0 where each has its own
  bool grouped = false;      ///< kernels prepare them group by group
  bool by_group = false;     ///< each group has gradients of its own
};
Sharing sharing_of(const ForwardCall& call) noexcept;
Sharing sharing_of(const BackwardCall& call) noexcept;

/// As the kernels read them.
kernels::RowForm kernel_form(const NormCall& call) noexcept;
kernels::Layout kernel_layout(const Arrangement& at, const std::int64_t* column_index) noexcept;
inline kernels::Type kernel_type(DType dtype) noexcept { return static_cast<kernels::Type>(dtype); }
inline kernels::Target kernel_target(const Context& context) noexcept {
  return static_cast<kernels::Target>(context.isa());
}
inline kernels::In kernel_rows(const NormCall& call, const ConstGroupedRows& r) noexcept {
  return {r.data, kernel_type(r.dtype), kernel_layout(r.at, call.column_index)};
}
inline kernels::Out kernel_rows(const NormCall& call, const GroupedRows& r) noexcept {
  return {r.data, kernel_type(r.dtype), kernel_layout(r.at, call.column_index)};
}

inline kernels::GroupParameter kernel_parameter(const ConstGroupedVector& v) noexcept {
  return {v.data, kernel_type(v.dtype), v.group_stride};
}
kernels::Dropout kernel_dropout(const Dropout& dropout) noexcept;
kernels::Quantized kernel_quantized(const QuantizedRows& rows) noexcept;

}  // namespace equinorm
