// The C interface of what stands in a Transformer block: modulated, fused and blended norms, DyT.
//
// The trap: a form's and the parameters' defaults of C++ do not reach C, where EQUINORM_INIT leaves
// zeros; the checks refuse those that mean nothing.
#include "c_convert.h"
#include "equinorm/blended_norm.hpp"
#include "equinorm/dynamic_tanh.hpp"
#include "equinorm/fused_norm.hpp"
#include "equinorm/modulation.hpp"

namespace equinorm {
namespace {

using equinorm::from_c;  // which those here would hide

Dropout from_c(const equinorm_dropout& d) noexcept { return {d.p, d.seed, d.offset}; }

FusedParameters from_c(const equinorm_fused_parameters& p) noexcept {
  return {from_c(p.gamma), from_c(p.beta),  p.rows_per_group,
          from_c(p.scale), from_c(p.shift), from_c(p.gate)};
}

QuantizedRows from_c(const equinorm_quantized_rows& q) noexcept {
  return {
      q.data,       enum_of<Quantization>(q.kind), q.rows, q.cols, q.row_stride, from_c(q.scale),
      q.fixed_scale};
}

}  // namespace
}  // namespace equinorm

using namespace equinorm;

extern "C" {

equinorm_status equinorm_modulated_norm_forward(const equinorm_modulated_norm_forward_args* args,
                                                equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return modulated_norm_forward({from_c(a.form), from_c(a.x), a.rows_per_group, from_c(a.scale),
                                   from_c(a.shift), from_c(a.y)},
                                  c);
  });
}

equinorm_status equinorm_modulated_norm_backward(const equinorm_modulated_norm_backward_args* args,
                                                 equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return modulated_norm_backward(
        {from_c(a.form), from_c(a.dy), from_c(a.x), a.rows_per_group, from_c(a.scale), from_c(a.dx),
         from_c(a.dscale), from_c(a.dshift)},
        c);
  });
}

equinorm_status equinorm_fused_norm_forward(const equinorm_fused_norm_forward_args* args,
                                            equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return fused_norm_forward(
        {from_c(a.form), from_c(a.x), from_c(a.residual), from_c(a.dropout), from_c(a.parameters),
         from_c(a.stream), from_c(a.y), from_c(a.quantized)},
        c);
  });
}

equinorm_status equinorm_fused_norm_backward(const equinorm_fused_norm_backward_args* args,
                                             equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return fused_norm_backward(
        {from_c(a.form), from_c(a.dy), from_c(a.dstream), from_c(a.stream), from_c(a.x),
         from_c(a.dropout), from_c(a.parameters), from_c(a.dx), from_c(a.dresidual),
         from_c(a.dgamma), from_c(a.dbeta), from_c(a.dscale), from_c(a.dshift), from_c(a.dgate)},
        c);
  });
}

equinorm_status equinorm_dynamic_tanh_forward(const equinorm_dynamic_tanh_forward_args* args,
                                              equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return dynamic_tanh_forward(
        {from_c(a.x), from_c(a.alpha), from_c(a.gamma), from_c(a.beta), from_c(a.y)}, c);
  });
}

equinorm_status equinorm_dynamic_tanh_backward(const equinorm_dynamic_tanh_backward_args* args,
                                               equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return dynamic_tanh_backward(
        {from_c(a.dy), from_c(a.x), from_c(a.alpha), from_c(a.gamma), from_c(a.dx),
         from_c(a.dalpha), from_c(a.dgamma), from_c(a.dbeta)},
        c);
  });
}

equinorm_status equinorm_blended_norm_forward(const equinorm_blended_norm_forward_args* args,
                                              equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return blended_norm_forward({from_c(a.form), from_c(a.x), from_c(a.alpha), from_c(a.gamma),
                                 from_c(a.beta), from_c(a.y)},
                                c);
  });
}

equinorm_status equinorm_blended_norm_backward(const equinorm_blended_norm_backward_args* args,
                                               equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return blended_norm_backward(
        {from_c(a.form), from_c(a.dy), from_c(a.x), from_c(a.alpha), from_c(a.gamma),
         from_c(a.beta), from_c(a.dx), from_c(a.dalpha), from_c(a.dgamma), from_c(a.dbeta)},
        c);
  });
}

}  // extern "C"
