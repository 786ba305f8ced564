// Checks of whole calls: each argument alone, then against the others, then for overlap.
#include "check.h"
#include "norm_call.h"
#include "overlap.h"
#include "return_if_bad.h"

namespace equinorm {
namespace {

constexpr ViewNames kX = EQUINORM_VIEW_NAMES("x");
constexpr ViewNames kY = EQUINORM_VIEW_NAMES("y");
constexpr ViewNames kDy = EQUINORM_VIEW_NAMES("dy");
constexpr ViewNames kDx = EQUINORM_VIEW_NAMES("dx");
constexpr ViewNames kGamma = EQUINORM_VIEW_NAMES("gamma");
constexpr ViewNames kBeta = EQUINORM_VIEW_NAMES("beta");
constexpr ViewNames kDgamma = EQUINORM_VIEW_NAMES("dgamma");
constexpr ViewNames kDbeta = EQUINORM_VIEW_NAMES("dbeta");
constexpr ViewNames kMean = EQUINORM_VIEW_NAMES("statistics.mean");
constexpr ViewNames kMeanTail = EQUINORM_VIEW_NAMES("statistics.mean_tail");
constexpr ViewNames kRstd = EQUINORM_VIEW_NAMES("statistics.rstd");
constexpr const char* kExact = "statistics.exact";
constexpr ViewNames kGivenMean = EQUINORM_VIEW_NAMES("given.mean");
constexpr ViewNames kGivenVariance = EQUINORM_VIEW_NAMES("given.variance");
constexpr const char* kQuantized = "quantized";
constexpr ViewNames kRowMean = EQUINORM_VIEW_NAMES("mean");
constexpr ViewNames kRowVariance = EQUINORM_VIEW_NAMES("variance");

Status check_statistic(const Vector& v, std::int64_t rows, DType c,
                       const ViewNames& names) noexcept {
  EQUINORM_RETURN_IF_BAD(check_vector(v, rows, "must equal x.rows", names));
  if (v.data != nullptr && v.dtype != c) {
    return invalid(names.dtype, Value(name_of(v.dtype)),
                   "must be the compute type: f64 where x or y (dy) is f64, else f32");
  }
  return {};
}

Status check_statistics(const NormCall& call, DType c) noexcept {
  const NormStatistics& s = call.statistics;
  const std::int64_t rows = call.rows();
  EQUINORM_RETURN_IF_BAD(check_statistic(s.mean, rows, c, kMean));
  EQUINORM_RETURN_IF_BAD(check_statistic(s.mean_tail, rows, c, kMeanTail));
  EQUINORM_RETURN_IF_BAD(check_statistic(s.rstd, rows, c, kRstd));
  if (rows == 0) return {};
  struct {
    const void* data;
    const char* name;
    bool used;
  } parts[] = {{s.mean.data, kMean.data, call.form.centered},
               {s.mean_tail.data, kMeanTail.data, call.form.centered},
               {s.rstd.data, kRstd.data, true},
               {s.exact, kExact, true}};
  bool any = false;
  for (const auto& part : parts) any = any || part.data != nullptr;
  for (const auto& part : parts) {
    if (any && part.used && part.data == nullptr) {
      return invalid(part.name, Value("null"), "statistics must be given all or none");
    }
  }
  return {};
}

constexpr const char* kDividesCols = "must divide x.cols";
constexpr const char* kNotGiven = "not null";

/// Size, type and place of a parameter or its gradient.
Status check_parameter(const NormCall& call, const ConstGroupedVector& v, bool is_gain,
                       const ViewNames& names) noexcept {
  if (v.data == nullptr) return {};
  const std::int64_t cols = call.cols();
  const std::int64_t groups = call.x.at.groups;
  const bool scalar = is_gain && call.form.gain == Gain::scalar;
  std::int64_t size = scalar ? 1 : cols;
  const char* rule = scalar ? "must be 1, as the gain is a scalar" : "must equal x.cols";
  if (!scalar && v.group_stride != 0) {
    rule = kDividesCols;
    if (v.size > 0 && cols % v.size == 0) size = v.size;
  }
  EQUINORM_RETURN_IF_BAD(check_vector({v.data, v.dtype, v.size}, size, rule, names));
  if (v.group_stride == 0 || groups <= 1 || v.size == 0) return {};
  return check_rows({v.data, v.dtype, {groups, 1, v.size, v.group_stride, 0, 1, 0, 0}}, names);
}

Status check_gain(const NormCall& call, const ConstGroupedVector& v,
                  const ViewNames& names) noexcept {
  if (v.data != nullptr && !has_gamma(call.form)) {
    return invalid(names.data, Value(kNotGiven), "must be null: this form has no gamma");
  }
  return check_parameter(call, v, true, names);
}

Status check_bias(const NormCall& call, const ConstGroupedVector& v,
                  const ViewNames& names) noexcept {
  if (v.data != nullptr && call.form.gain == Gain::adaptive) {
    return invalid(names.data, Value(kNotGiven), "must be null: this form has no beta");
  }
  return check_parameter(call, v, false, names);
}

/// Parameters and their gradients are shared alike.
Status check_sharing(const NormCall& call, const ConstGroupedVector& v, const Sharing& sharing,
                     const ViewNames& names) noexcept {
  if (v.data == nullptr) return {};
  const bool scalar_beside_vectors = call.form.gain == Gain::scalar && !sharing.by_group;
  if (v.size != sharing.size && !scalar_beside_vectors) {
    return invalid(names.size, Value(v.size), "must be the same for gamma, beta and gradients");
  }
  if (sharing.by_group && v.group_stride == 0) {
    return invalid(names.group_stride, Value(v.group_stride),
                   "must be 0 for all of gamma, beta and gradients, or for none");
  }
  return {};
}

/// The gradients of two groups do not share a place.
Status check_gradient_stride(const GroupedVector& v, const Sharing& sharing,
                             const ViewNames& names) noexcept {
  if (v.data == nullptr || !sharing.by_group ||
      magnitude(v.group_stride) >= static_cast<std::uint64_t>(v.size))
    return {};
  return invalid(names.group_stride, Value(v.group_stride), "must be at least size in magnitude");
}

Status check_given(const NormCall& call, DType c) noexcept {
  const GivenStatistics& given = call.given;
  if (given.variance.data == nullptr && given.mean.data == nullptr) return {};
  const std::int64_t groups = call.x.at.groups;
  EQUINORM_RETURN_IF_BAD(check_vector(given.mean, groups, "must equal x.groups", kGivenMean));
  EQUINORM_RETURN_IF_BAD(
      check_vector(given.variance, groups, "must equal x.groups", kGivenVariance));
  EQUINORM_RETURN_IF_BAD(check_parameter_type(given.mean.data, given.mean.dtype, c, kGivenMean));
  EQUINORM_RETURN_IF_BAD(
      check_parameter_type(given.variance.data, given.variance.dtype, c, kGivenVariance));
  if (given.variance.data == nullptr || (call.form.centered && given.mean.data == nullptr)) {
    return invalid(given.variance.data == nullptr ? kGivenVariance.data : kGivenMean.data,
                   Value("null"), "mean and variance must be given both or none");
  }
  if (!call.form.centered && given.mean.data != nullptr) {
    return invalid(kGivenMean.data, Value(kNotGiven), "must be null: this form is not centred");
  }
  if (call.form.part != 1 || call.form.spread == Spread::length ||
      call.form.gain == Gain::adaptive) {
    return invalid(kGivenVariance.data, Value(kNotGiven),
                   "must be null for a form with a part, a length or an adaptive gain");
  }
  return {};
}

Status check_common(const NormCall& call, DType c) noexcept {
  EQUINORM_RETURN_IF_BAD(check_gain(call, call.gamma, kGamma));
  EQUINORM_RETURN_IF_BAD(check_parameter_type(call.gamma.data, call.gamma.dtype, c, kGamma));
  EQUINORM_RETURN_IF_BAD(check_bias(call, call.beta, kBeta));
  EQUINORM_RETURN_IF_BAD(check_parameter_type(call.beta.data, call.beta.dtype, c, kBeta));
  EQUINORM_RETURN_IF_BAD(check_form(call.form));
  EQUINORM_RETURN_IF_BAD(check_given(call, c));
  return check_statistics(call, c);
}

Status check_segments(const NormCall& call, const Sharing& sharing) noexcept {
  if (sharing.segment == 0 || (call.form.part == 1 && call.form.gain != Gain::adaptive)) return {};
  return invalid("form", Value("part or adaptive"),
                 "must have neither a part nor an adaptive gain where columns share parameters");
}

void add_inputs(const NormCall& call, Regions& regions) noexcept {
  const std::int64_t groups = call.x.at.groups;
  regions.add_input({kX.name, call.x});
  regions.add_input({kGamma.name, call.gamma, groups});
  regions.add_input({kBeta.name, call.beta, groups});
  regions.add_input({kGivenMean.name, call.given.mean});
  regions.add_input({kGivenVariance.name, call.given.variance});
}

template <class Add>
void add_statistics(const NormCall& call, Add add) noexcept {
  add(Region(kMean.name, call.statistics.mean));
  add(Region(kMeanTail.name, call.statistics.mean_tail));
  add(Region(kRstd.name, call.statistics.rstd));
  add(Region(kExact, call.statistics.exact, call.rows()));
}

/// Mean and variance of the rows, f64.
Status check_row_statistics(const ForwardCall& call) noexcept {
  const auto check = [&](const Vector& v, const ViewNames& names) {
    EQUINORM_RETURN_IF_BAD(check_vector(v, call.rows(), "must equal x.groups * x.rows", names));
    if (v.data != nullptr && v.dtype != DType::f64) {
      return invalid(names.dtype, Value(name_of(v.dtype)), "must be f64");
    }
    return Status{};
  };
  EQUINORM_RETURN_IF_BAD(check(call.mean, kRowMean));
  EQUINORM_RETURN_IF_BAD(check(call.variance, kRowVariance));
  if (call.rows() > 0 && (call.mean.data == nullptr) != (call.variance.data == nullptr)) {
    return invalid(call.mean.data == nullptr ? kRowMean.data : kRowVariance.data, Value("null"),
                   "mean and variance must be given both or none");
  }
  return {};
}

constexpr const char* kGate = "gate";
constexpr const char* kDgate = "dgate";
constexpr const char* kStream = "stream";
constexpr const char* kDstream = "dstream";
constexpr const char* kResidual = "residual";

void add_fused(const ForwardCall& call, Regions& regions) noexcept {
  if (call.is_quantized) {
    const QuantizedRows& q = call.quantized;
    Region bytes(kQuantized, static_cast<const std::uint8_t*>(q.data), q.cols);
    bytes.rows = q.data == nullptr ? 0 : q.rows;
    bytes.step = q.rows > 1 ? q.row_stride : 0;
    regions.add_output(bytes);
    regions.add_output({"quantized.scale", q.scale});
  }
  if (!call.fused) return;
  regions.add_output({kStream, call.stream});
  regions.add_input({kResidual, call.residual});
  regions.add_input({kGate, call.gate, call.x.at.groups});
  if (identical(call.stream, call.residual)) regions.allow(kStream, kResidual);
  if (identical(call.stream, call.x)) regions.allow(kStream, kX.name);
  if (identical(call.y, call.residual)) regions.allow(kY.name, kResidual);
}

}  // namespace

Status check_call(const ForwardCall& call) noexcept {
  EQUINORM_RETURN_IF_BAD(check_rows(call.x, kX));
  if (!call.is_quantized) {
    EQUINORM_RETURN_IF_BAD(check_output_rows(call.y, kY));
    EQUINORM_RETURN_IF_BAD(check_same_shape(call.y, call.x, kY));
  }
  EQUINORM_RETURN_IF_BAD(check_common(call, call.compute()));
  EQUINORM_RETURN_IF_BAD(check_row_statistics(call));
  const Sharing sharing = sharing_of(call);
  EQUINORM_RETURN_IF_BAD(check_segments(call, sharing));
  EQUINORM_RETURN_IF_BAD(check_sharing(call, call.gamma, sharing, kGamma));
  EQUINORM_RETURN_IF_BAD(check_sharing(call, call.beta, sharing, kBeta));
  Regions regions;
  regions.add_output({kY.name, call.y});
  add_fused(call, regions);
  regions.add_output({kRowMean.name, call.mean});
  regions.add_output({kRowVariance.name, call.variance});
  add_statistics(call, [&](const Region& r) { regions.add_output(r); });
  add_inputs(call, regions);
  if (identical(call.y, call.x)) regions.allow(kY.name, kX.name);
  return regions.check();
}

Status check_call(const BackwardCall& call) noexcept {
  EQUINORM_RETURN_IF_BAD(check_rows(call.x, kX));
  EQUINORM_RETURN_IF_BAD(check_rows(call.dy, kDy));
  EQUINORM_RETURN_IF_BAD(check_same_shape(call.dy, call.x, kDy));
  if (call.dx.data != nullptr) {
    EQUINORM_RETURN_IF_BAD(check_output_rows(call.dx, kDx));
    EQUINORM_RETURN_IF_BAD(check_same_shape(call.dx, call.x, kDx));
    if (!call.fused && call.dx.dtype != call.x.dtype) {
      return invalid(kDx.dtype, Value(name_of(call.dx.dtype)), "must equal x.dtype");
    }
  }
  EQUINORM_RETURN_IF_BAD(check_common(call, call.compute()));
  EQUINORM_RETURN_IF_BAD(check_gain(call, call.dgamma, kDgamma));
  EQUINORM_RETURN_IF_BAD(check_bias(call, call.dbeta, kDbeta));
  const Sharing sharing = sharing_of(call);
  EQUINORM_RETURN_IF_BAD(check_segments(call, sharing));
  EQUINORM_RETURN_IF_BAD(check_sharing(call, call.gamma, sharing, kGamma));
  EQUINORM_RETURN_IF_BAD(check_sharing(call, call.dgamma, sharing, kDgamma));
  EQUINORM_RETURN_IF_BAD(check_sharing(call, call.dbeta, sharing, kDbeta));
  EQUINORM_RETURN_IF_BAD(check_gradient_stride(call.dgamma, sharing, kDgamma));
  EQUINORM_RETURN_IF_BAD(check_gradient_stride(call.dbeta, sharing, kDbeta));
  const std::int64_t groups = call.x.at.groups;
  Regions regions;
  if (call.dx.data != nullptr) regions.add_output({call.fused ? "dresidual" : kDx.name, call.dx});
  if (call.fused) {
    regions.add_output({kDx.name, call.dbranch});
    regions.add_output({kDgate, call.dgate, groups});
    regions.add_input({"x", call.branch});
    regions.add_input({kDstream, call.dstream});
    regions.add_input({kGate, call.gate, groups});
    if (identical(call.dx, call.dstream)) regions.allow("dresidual", kDstream);
    regions.add_output({kDgamma.name, call.dgamma, groups});
    regions.add_output({kDbeta.name, call.dbeta, groups});
    add_inputs(call, regions);
    regions.add_input({kDy.name, call.dy});
    return regions.check();
  }
  regions.add_output({kDgamma.name, call.dgamma, groups});
  regions.add_output({kDbeta.name, call.dbeta, groups});
  add_inputs(call, regions);
  regions.add_input({kDy.name, call.dy});
  add_statistics(call, [&](const Region& r) { regions.add_input(r); });
  if (identical(call.dx, call.x)) regions.allow(kDx.name, kX.name);
  if (identical(call.dx, call.dy)) regions.allow(kDx.name, kDy.name);
  return regions.check();
}

}  // namespace equinorm
