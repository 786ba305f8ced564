// A call of any norm in one form, between the public argument structs and the kernels: the
// operators differ in the fields they fill, not in how they are checked and run.
#pragma once

#include "equinorm/context.hpp"
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
  ConstRows x;
  ConstVector gamma;
  ConstVector beta;
  NormStatistics statistics;
};

struct ForwardCall : NormCall {
  Rows y;
};

struct BackwardCall : NormCall {
  ConstRows dy;
  Rows dx;
  Vector dgamma;
  Vector dbeta;
};

Status check_call(const ForwardCall& call) noexcept;
Status check_call(const BackwardCall& call) noexcept;

/// For checked calls.
Status run(const ForwardCall& call, Context& context) noexcept;
Status run(const BackwardCall& call, Context& context) noexcept;

/// The form as the kernels read it.
kernels::RowForm kernel_form(const NormCall& call) noexcept;
inline kernels::Type kernel_type(DType dtype) noexcept { return static_cast<kernels::Type>(dtype); }
inline kernels::Target kernel_target(const Context& context) noexcept {
  return static_cast<kernels::Target>(context.isa());
}

}  // namespace equinorm
