// A call of any norm in one form, between the public argument structs and the kernels: the
// operators differ in the fields they fill, not in how they are checked and run.
//
// RMSNorm has no beta, no mean and no dbeta; LayerNorm has no add_one.
#pragma once

#include "equinorm/context.hpp"
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
  bool centered = false;  ///< LayerNorm
  ConstRows x;
  ConstVector gamma;
  ConstVector beta;
  bool add_one = false;
  double eps = 0;
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

inline kernels::Type kernel_type(DType dtype) noexcept { return static_cast<kernels::Type>(dtype); }
inline kernels::Target kernel_target(const Context& context) noexcept {
  return static_cast<kernels::Target>(context.isa());
}

}  // namespace equinorm
