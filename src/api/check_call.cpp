// Checks of whole calls: each argument alone, then against the others, then for overlap.
#include "check.h"
#include "norm_call.h"
#include "overlap.h"

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

#define EQUINORM_RETURN_IF_BAD(check)                \
  do {                                               \
    if (Status bad = (check); !bad.ok()) return bad; \
  } while (false)

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
  const std::int64_t rows = call.x.rows;
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

Status check_gain(const NormCall& call, const ConstVector& v, const ViewNames& names) noexcept {
  const RowForm& form = call.form;
  if (v.data != nullptr && !has_gamma(form)) {
    return invalid(names.data, Value("not null"), "must be null: this form has no gamma");
  }
  return check_vector(
      v, gamma_size(form, call.x.cols),
      form.gain == Gain::scalar ? "must be 1, as the gain is a scalar" : "must equal x.cols",
      names);
}

Status check_bias(const NormCall& call, const ConstVector& v, const ViewNames& names) noexcept {
  if (v.data != nullptr && call.form.gain == Gain::adaptive) {
    return invalid(names.data, Value("not null"), "must be null: this form has no beta");
  }
  return check_vector(v, call.x.cols, "must equal x.cols", names);
}

Status check_common(const NormCall& call, DType c) noexcept {
  EQUINORM_RETURN_IF_BAD(check_gain(call, call.gamma, kGamma));
  EQUINORM_RETURN_IF_BAD(check_parameter_type(call.gamma, c, kGamma));
  EQUINORM_RETURN_IF_BAD(check_bias(call, call.beta, kBeta));
  EQUINORM_RETURN_IF_BAD(check_parameter_type(call.beta, c, kBeta));
  EQUINORM_RETURN_IF_BAD(check_form(call.form));
  return check_statistics(call, c);
}

void add_inputs(const NormCall& call, Regions& regions) noexcept {
  regions.add_input({kX.name, call.x});
  regions.add_input({kGamma.name, call.gamma});
  regions.add_input({kBeta.name, call.beta});
}

template <class Add>
void add_statistics(const NormCall& call, Add add) noexcept {
  add(Region(kMean.name, call.statistics.mean));
  add(Region(kMeanTail.name, call.statistics.mean_tail));
  add(Region(kRstd.name, call.statistics.rstd));
  add(Region(kExact, call.statistics.exact, call.x.rows));
}

}  // namespace

Status check_call(const ForwardCall& call) noexcept {
  EQUINORM_RETURN_IF_BAD(check_rows(call.x, kX));
  EQUINORM_RETURN_IF_BAD(check_output_rows(call.y, kY));
  EQUINORM_RETURN_IF_BAD(check_same_shape(call.y, call.x, kY));
  EQUINORM_RETURN_IF_BAD(check_common(call, compute_type(call.x.dtype, call.y.dtype)));
  Regions regions;
  regions.add_output({kY.name, call.y});
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
    if (call.dx.dtype != call.x.dtype) {
      return invalid(kDx.dtype, Value(name_of(call.dx.dtype)), "must equal x.dtype");
    }
  }
  EQUINORM_RETURN_IF_BAD(check_common(call, compute_type(call.x.dtype, call.dy.dtype)));
  EQUINORM_RETURN_IF_BAD(check_gain(call, call.dgamma, kDgamma));
  EQUINORM_RETURN_IF_BAD(check_bias(call, call.dbeta, kDbeta));
  Regions regions;
  if (call.dx.data != nullptr) regions.add_output({kDx.name, call.dx});
  regions.add_output({kDgamma.name, call.dgamma});
  regions.add_output({kDbeta.name, call.dbeta});
  add_inputs(call, regions);
  regions.add_input({kDy.name, call.dy});
  add_statistics(call, [&](const Region& r) { regions.add_input(r); });
  if (identical(call.dx, call.x)) regions.allow(kDx.name, kX.name);
  if (identical(call.dx, call.dy)) regions.allow(kDx.name, kDy.name);
  return regions.check();
}

}  // namespace equinorm
