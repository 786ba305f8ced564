// Norms with the residual stream around them, modulation and 8-bit outputs.
#include "equinorm/fused_norm.hpp"

#include <cmath>

#include "check.h"
#include "modulation.h"
#include "return_if_bad.h"

namespace equinorm {
namespace {

constexpr ViewNames kX = EQUINORM_VIEW_NAMES("x");
constexpr ViewNames kY = EQUINORM_VIEW_NAMES("y");
constexpr ViewNames kResidual = EQUINORM_VIEW_NAMES("residual");
constexpr ViewNames kStream = EQUINORM_VIEW_NAMES("stream");
constexpr ViewNames kDy = EQUINORM_VIEW_NAMES("dy");
constexpr ViewNames kDx = EQUINORM_VIEW_NAMES("dx");
constexpr ViewNames kDstream = EQUINORM_VIEW_NAMES("dstream");
constexpr ViewNames kDresidual = EQUINORM_VIEW_NAMES("dresidual");
constexpr ViewNames kGate = EQUINORM_VIEW_NAMES("parameters.gate");
constexpr ViewNames kScale = EQUINORM_VIEW_NAMES("parameters.scale");
constexpr ViewNames kShift = EQUINORM_VIEW_NAMES("parameters.shift");
constexpr ViewNames kDgate = EQUINORM_VIEW_NAMES("dgate");
constexpr ViewNames kDscale = EQUINORM_VIEW_NAMES("dscale");
constexpr ViewNames kDshift = EQUINORM_VIEW_NAMES("dshift");
constexpr ViewNames kQuantized = EQUINORM_VIEW_NAMES("quantized");
constexpr ViewNames kQuantizedScale = EQUINORM_VIEW_NAMES("quantized.scale");

bool has_elements(const ConstRows& r) noexcept { return r.rows > 0 && r.cols > 0; }

/// Rows that may be left out, of x's shape.
Status check_optional(const ConstRows& v, const ConstRows& x, const ViewNames& names) noexcept {
  if (v.data == nullptr) return {};
  EQUINORM_RETURN_IF_BAD(check_rows(grouped(v), names));
  return check_same_shape(grouped(v), grouped(x), names);
}
Status check_optional_output(const Rows& v, const ConstRows& x, const ViewNames& names) noexcept {
  if (v.data == nullptr) return {};
  EQUINORM_RETURN_IF_BAD(check_output_rows(grouped(v), names));
  return check_same_shape(grouped(v), grouped(x), names);
}

Status check_dropout(const Dropout& dropout) noexcept {
  if (dropout.p >= 0 && dropout.p <= 1) return {};
  return invalid("dropout.p", Value(dropout.p), "must be at least 0 and at most 1");
}

bool has_groups(const FusedParameters& p) noexcept {
  return p.scale.data != nullptr || p.shift.data != nullptr || p.gate.data != nullptr;
}

Status check_parameters(const FusedParameters& p, const ConstRows& x, bool groups,
                        DType c) noexcept {
  const std::int64_t each = p.rows_per_group;
  EQUINORM_RETURN_IF_BAD(check_groups(p.scale, x, each, kScale));
  EQUINORM_RETURN_IF_BAD(check_groups(p.shift, x, each, kShift));
  EQUINORM_RETURN_IF_BAD(check_groups(p.gate, x, each, kGate));
  EQUINORM_RETURN_IF_BAD(check_parameter_type(p.gate.data, p.gate.dtype, c, kGate));
  if (groups && (p.gamma.data != nullptr || p.beta.data != nullptr)) {
    return invalid(p.gamma.data != nullptr ? "parameters.gamma" : "parameters.beta",
                   Value("not null"), "must be null with a scale, a shift or a gate");
  }
  return {};
}

/// Fills what both directions have.
template <class Call>
void set_parameters(const FusedParameters& p, bool in_groups, RowForm form, Call& call) noexcept {
  call.fused = true;
  call.form = form;
  if (in_groups) {
    call.form = modulated(form);
    call.gamma = group_parameter(p.scale);
    call.gate = group_parameter(p.gate);
  } else {
    call.gamma = grouped(p.gamma);
  }
}

Status check_quantized(const QuantizedRows& q, const ConstRows& x, DType c) noexcept {
  if (q.kind < Quantization::int8_per_row || q.kind > Quantization::int8_fixed) {
    return invalid("quantized.kind", Value(static_cast<int>(q.kind)),
                   "must be int8_per_row, fp8_e4m3_per_row or int8_fixed");
  }
  if (q.data == nullptr && has_elements(x)) {
    return invalid(kQuantized.data, Value("null"), "must point to data unless the shape is empty");
  }
  if (q.rows != x.rows) return invalid(kQuantized.rows, Value(q.rows), "must equal x.rows");
  if (q.cols != x.cols) return invalid(kQuantized.cols, Value(q.cols), "must equal x.cols");
  std::int64_t reach, end;
  const auto base = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(q.data));
  if (q.rows > 1 && (__builtin_mul_overflow(q.rows - 1, q.row_stride, &reach) ||
                     __builtin_add_overflow(base, reach, &end) || end < 0 ||
                     __builtin_add_overflow(end, q.cols, &end))) {
    return invalid(kQuantized.row_stride, Value(q.row_stride),
                   "must keep every element within 64-bit byte addresses");
  }
  if (q.rows > 1 && magnitude(q.row_stride) < static_cast<std::uint64_t>(q.cols)) {
    return invalid(kQuantized.row_stride, Value(q.row_stride),
                   "must be at least cols in magnitude, so that rows do not overlap");
  }
  if (q.kind == Quantization::int8_fixed) {
    const double scale =
        c == DType::f64 ? q.fixed_scale : static_cast<double>(static_cast<float>(q.fixed_scale));
    if (std::isfinite(scale) && scale > 0) return {};
    return invalid("quantized.fixed_scale", Value(q.fixed_scale),
                   "must be finite and above 0 in the compute type");
  }
  EQUINORM_RETURN_IF_BAD(check_vector(q.scale, x.rows, "must equal x.rows", kQuantizedScale));
  if (q.scale.data == nullptr && x.rows > 0) {
    return invalid(kQuantizedScale.data, Value("null"), "must point to data unless x.rows is 0");
  }
  if (q.scale.dtype != c) {
    return invalid(kQuantizedScale.dtype, Value(name_of(q.scale.dtype)),
                   "must be the compute type: f64 where a tensor is f64, else f32");
  }
  return {};
}

}  // namespace

kernels::Dropout kernel_dropout(const Dropout& dropout) noexcept {
  kernels::Dropout result;
  result.on = dropout.p > 0;
  result.threshold = static_cast<std::uint64_t>(std::ceil(std::ldexp(dropout.p, 32)));
  result.scale = dropout.p < 1 ? 1 / (1 - dropout.p) : 0;
  result.seed = dropout.seed;
  result.offset = dropout.offset;
  return result;
}

kernels::Quantized kernel_quantized(const QuantizedRows& rows) noexcept {
  kernels::Quantized result;
  result.kind = static_cast<kernels::Quantization>(rows.kind);
  result.data = rows.data;
  result.layout = kernel_layout({1, rows.rows, rows.cols, 0, rows.row_stride, 1, 0, 0}, nullptr);
  result.scales = rows.scale.data;
  result.scale = rows.fixed_scale;
  return result;
}

Status fused_norm_forward(const FusedNormForward& args, Context& context) noexcept {
  EQUINORM_RETURN_IF_BAD(check_rows(grouped(args.x), kX));
  EQUINORM_RETURN_IF_BAD(check_optional(args.residual, args.x, kResidual));
  EQUINORM_RETURN_IF_BAD(check_optional_output(args.stream, args.x, kStream));
  EQUINORM_RETURN_IF_BAD(check_optional_output(args.y, args.x, kY));
  EQUINORM_RETURN_IF_BAD(check_dropout(args.dropout));
  const FusedParameters& p = args.parameters;
  const bool groups = has_groups(p);
  const std::int64_t each = groups ? p.rows_per_group : 1;
  EQUINORM_RETURN_IF_BAD(check_rows_per_group(args.x, p.rows_per_group));
  ForwardCall call;
  set_parameters(p, groups, args.form, call);
  // Without elements there is no data to tell which of the two is wanted.
  const QuantizedRows& q = args.quantized;
  call.is_quantized =
      args.y.data == nullptr && (q.data != nullptr || (args.y.cols == 0 && q.cols != 0));
  call.x = groups ? in_groups(args.x, each) : grouped(args.x);
  call.y = groups ? in_groups(args.y, each) : grouped(args.y);
  call.residual = groups ? in_groups(args.residual, each) : grouped(args.residual);
  call.stream = groups ? in_groups(args.stream, each) : grouped(args.stream);
  call.dropout = args.dropout;
  call.quantized = args.quantized;
  call.beta = groups ? group_parameter(p.shift) : grouped(p.beta);
  const DType c = call.compute();
  EQUINORM_RETURN_IF_BAD(check_parameters(p, args.x, groups, c));
  if (args.y.data != nullptr && args.quantized.data != nullptr) {
    return invalid("quantized.data", Value("not null"), "must be null where y is given");
  }
  if (call.is_quantized) {
    EQUINORM_RETURN_IF_BAD(check_quantized(args.quantized, args.x, c));
    call.y.dtype = c;
  }
  EQUINORM_RETURN_IF_BAD(check_call(call));
  return run(call, context);
}

Status fused_norm_backward(const FusedNormBackward& args, Context& context) noexcept {
  EQUINORM_RETURN_IF_BAD(check_rows(grouped(args.stream), kStream));
  EQUINORM_RETURN_IF_BAD(check_rows(grouped(args.dy), kDy));
  EQUINORM_RETURN_IF_BAD(check_same_shape(grouped(args.dy), grouped(args.stream), kDy));
  EQUINORM_RETURN_IF_BAD(check_optional(args.dstream, args.stream, kDstream));
  EQUINORM_RETURN_IF_BAD(check_optional(args.x, args.stream, kX));
  EQUINORM_RETURN_IF_BAD(check_optional_output(args.dx, args.stream, kDx));
  EQUINORM_RETURN_IF_BAD(check_optional_output(args.dresidual, args.stream, kDresidual));
  EQUINORM_RETURN_IF_BAD(check_dropout(args.dropout));
  const FusedParameters& p = args.parameters;
  const bool groups = has_groups(p) || args.dscale.data != nullptr || args.dshift.data != nullptr ||
                      args.dgate.data != nullptr;
  const std::int64_t each = groups ? p.rows_per_group : 1;
  EQUINORM_RETURN_IF_BAD(check_rows_per_group(args.stream, p.rows_per_group));
  BackwardCall call;
  set_parameters(p, groups, args.form, call);
  call.x = groups ? in_groups(args.stream, each) : grouped(args.stream);
  call.dy = groups ? in_groups(args.dy, each) : grouped(args.dy);
  call.dstream = groups ? in_groups(args.dstream, each) : grouped(args.dstream);
  call.branch = groups ? in_groups(args.x, each) : grouped(args.x);
  call.dbranch = groups ? in_groups(args.dx, each) : grouped(args.dx);
  call.dx = groups ? in_groups(args.dresidual, each) : grouped(args.dresidual);
  call.dropout = args.dropout;
  EQUINORM_RETURN_IF_BAD(check_parameters(p, args.stream, groups, call.compute()));
  EQUINORM_RETURN_IF_BAD(check_groups(args.dscale, args.stream, each, kDscale));
  EQUINORM_RETURN_IF_BAD(check_groups(args.dshift, args.stream, each, kDshift));
  EQUINORM_RETURN_IF_BAD(check_groups(args.dgate, args.stream, each, kDgate));
  if (args.dgate.data != nullptr && args.x.data == nullptr && has_elements(args.stream)) {
    return invalid(kX.data, Value("null"), "must be given where dgate is wanted");
  }
  if (groups && (args.dgamma.data != nullptr || args.dbeta.data != nullptr)) {
    return invalid(args.dgamma.data != nullptr ? "dgamma" : "dbeta", Value("not null"),
                   "must be null with a scale, a shift or a gate, or the gradient of one");
  }
  call.dgamma = groups ? group_parameter(args.dscale) : grouped(args.dgamma);
  call.dbeta = groups ? group_parameter(args.dshift) : grouped(args.dbeta);
  call.dgate = group_parameter(args.dgate);
  EQUINORM_RETURN_IF_BAD(check_call(call));
  return run(call, context);
}

}  // namespace equinorm
