// The truth oracle: the operators in exact arithmetic, for all purposes. Knows nothing of lanes,
// paths or compute types.
//
// The one trap: 320 bits are not infinitely many. The widest sum, of doubles of both ends of the
// range, is cut 2^-300 below its largest term, which no row scale can see: two different doubles
// differ by at least 2^-53 of the larger, so the deviations of a row are never that small.
#include <cmath>
#include <limits>

#include "numbers.hpp"
#include "real.hpp"
#include "rows.hpp"

namespace equinorm::truth {
namespace {

using reference::Parameters;

const Value kNan = {std::numeric_limits<double>::quiet_NaN(), 0, 0};

std::vector<double> row_of(const ConstGroupedRows& rows, std::int64_t r) {
  return reference::load_row<double>(rows, r);
}

bool all_finite(const std::vector<double>& v) {
  for (const double a : v) {
    if (!std::isfinite(a)) return false;
  }
  return true;
}

struct RowStatistics {
  Real mean;
  Real rstd;
  Real pull = 1.0;  // weight of the spread in the gradient
};

void set_spread(const Real& v, const RowForm& form, RowStatistics& result) {
  const Real eps = form.eps;
  Real span;
  switch (form.spread) {
    case Spread::root:
    case Spread::length:
      if (!(v + eps).is_zero()) result.rstd = reciprocal_root(v + eps);
      break;
    case Spread::added:
      span = root(v) + eps;
      result.pull = v.is_zero() ? Real() : span / root(v);
      break;
    case Spread::clamped:
      span = max(root(v), eps);
      result.pull = root(v) > eps ? 1.0 : 0.0;
      break;
  }
  if (!span.is_zero()) result.rstd = Real(1.0) / span;
  if (form.detach_spread) result.pull = 0.0;
}

RowStatistics statistics_of(const std::vector<double>& x, const RowForm& form,
                            const reference::Given& given) {
  const std::size_t part = reference::part_of(form, x.size());
  RowStatistics result;
  if (given.any) {
    if (form.centered) result.mean = given.mean;
    set_spread(given.variance, form, result);
    result.pull = 0.0;
    return result;
  }
  if (form.centered) {
    Real sum;
    for (const double v : x) sum += v;
    result.mean = sum / static_cast<double>(x.size());
  }
  Real squares;
  for (std::size_t i = 0; i < part; ++i) {
    const Real d = x[i] - result.mean;
    squares.add_product(d, d);
  }
  set_spread(squares / reference::divisor_of(form, part), form, result);
  return result;
}

// Gain and beta of a column, 1 and 0 where they are not given; and the floor of scales, the
// smallest normal number of the compute type.
class Affine {
 public:
  Affine(const Parameters& parameters, std::int64_t group, std::int64_t cols, DType compute)
      : form_(parameters.form),
        given_(reference::given_of(parameters, group)),
        floor_(compute == DType::f64 ? 0x1p-1022 : 0x1p-126),
        gamma_(reference::load_vector<double>(parameters.gamma, group, cols)),
        beta_(reference::load_vector<double>(parameters.beta, group, cols)) {}

  [[nodiscard]] Real gain(std::size_t i, const Real& xhat) const {
    if (form_.gain == Gain::adaptive) return Real(form_.scale) - slope() * xhat;
    if (gamma_.empty()) return 1.0;
    if (form_.gain == Gain::one_plus) return Real(1.0) + gamma_[i];
    return gamma_[i];
  }
  // What the rounding errors of the gain are relative to.
  [[nodiscard]] Real gain_size(std::size_t i, const Real& xhat) const {
    if (form_.gain == Gain::adaptive) return abs(Real(form_.scale)) + abs(slope() * xhat);
    return abs(gain(i, xhat));
  }
  [[nodiscard]] Real beta(std::size_t i) const { return beta_.empty() ? 0.0 : beta_[i]; }
  [[nodiscard]] bool gain_is_finite() const { return all_finite(gamma_); }
  [[nodiscard]] double floor() const { return floor_; }
  [[nodiscard]] const reference::Given& given() const { return given_; }

 private:
  [[nodiscard]] Real slope() const { return Real(form_.scale) * form_.slope; }

  RowForm form_;
  reference::Given given_;
  double floor_;
  std::vector<double> gamma_;
  std::vector<double> beta_;
};

// With given statistics an element that is not finite spoils no other; its own result is that of
// f64.
Value spoiled(double element, double factor, double added) {
  return {element * factor + added, 0, 0};
}

void forward_row(const std::vector<double>& x, const Parameters& parameters, const Affine& affine,
                 Forward& result) {
  if (!all_finite(x) && !affine.given().any) {
    result.y.insert(result.y.end(), x.size(), kNan);
    for (auto* v : {&result.mean, &result.rstd, &result.scale, &result.size}) v->push_back(kNan);
    return;
  }
  const RowStatistics s =
      x.empty() ? RowStatistics{} : statistics_of(x, parameters.form, affine.given());
  Real largest_xhat = affine.floor();
  Real largest_gain;
  Real largest_beta;
  Real largest;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) {
      const double factor = (affine.gain(i, Real()) * s.rstd).value().to_double();
      result.y.push_back(spoiled(x[i], factor, affine.beta(i).value().to_double()));
      continue;
    }
    const Real xhat = (x[i] - s.mean) * s.rstd;
    const Real gain = affine.gain_size(i, xhat);
    const Real beta = affine.beta(i);
    const Real scaled = xhat * affine.gain(i, xhat);
    result.y.push_back((scaled + beta).value());
    largest = max(largest, abs(scaled) + abs(beta));
    largest_xhat = max(largest_xhat, abs(xhat));
    largest_gain = max(largest_gain, gain);
    largest_beta = max(largest_beta, abs(beta));
  }
  result.mean.push_back(s.mean.value());
  result.rstd.push_back(s.rstd.value());
  result.scale.push_back((largest_xhat * largest_gain + largest_beta).value());
  result.size.push_back(largest.value());
}

struct Columns {
  std::vector<Real> dgamma;
  std::vector<Real> dbeta;
  std::vector<Real> dgamma_scale;
  std::vector<Real> dbeta_scale;
};

void add_to_columns(const std::vector<double>& dy, const std::vector<Real>& xhat, bool centred,
                    double floor, Columns& columns) {
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const Real size = abs(Real(dy[i]));
    columns.dgamma[i].add_product(dy[i], xhat[i]);
    const Real larger = centred ? abs(xhat[i]) + 1.0 : max(abs(xhat[i]), floor);
    columns.dgamma_scale[i] += max(size * larger, floor);
    columns.dbeta[i] += dy[i];
    columns.dbeta_scale[i] += max(size, floor);
  }
}

void gradient_row(const std::vector<double>& dy, const std::vector<Real>& xhat,
                  const RowStatistics& s, const RowForm& form, const Affine& affine,
                  Backward& result) {
  const Real D = static_cast<double>(dy.size());
  const std::size_t part = reference::part_of(form, dy.size());
  const Real N = reference::divisor_of(form, part);
  std::vector<Real> g;
  std::vector<Real> g_size;
  Real sum;
  Real sum_xhat;
  Real size;       // sum of |g|
  Real size_xhat;  // sum of |g xhat|
  for (std::size_t i = 0; i < dy.size(); ++i) {
    g.push_back(dy[i] * affine.gain(i, xhat[i]));
    g_size.push_back(abs(Real(dy[i])) * affine.gain_size(i, xhat[i]));
    sum += g[i];
    sum_xhat.add_product(g[i], xhat[i]);
    size += g_size[i];
    size_xhat.add_product(g_size[i], abs(xhat[i]));
  }
  const bool has_mean = form.centered && !form.detach_mean;
  const Real c1 = has_mean ? sum / D : Real();
  const Real c2 = s.pull * sum_xhat / N;
  Real largest;
  Real largest_g;
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const Real pulled = i < part ? xhat[i] : Real();
    largest_g = max(largest_g, abs(g[i]));
    result.dx.push_back(((g[i] - c1 - pulled * c2) * s.rstd).value());
    largest = max(largest, g_size[i] + abs(pulled) * s.pull * size_xhat / N);
  }
  if (has_mean) largest += size / D;
  result.scale.push_back((largest * s.rstd).value());
  result.size.push_back((largest_g * s.rstd).value());
}

void given_gradient_row(const std::vector<double>& dy, const RowStatistics& s, const Affine& affine,
                        Backward& result) {
  Real largest;
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const Real factor = affine.gain(i, Real()) * s.rstd;
    if (std::isfinite(dy[i])) {
      result.dx.push_back((dy[i] * factor).value());
      largest = max(largest, abs(dy[i] * factor));
    } else {
      result.dx.push_back(spoiled(dy[i], factor.value().to_double(), 0));
    }
  }
  result.scale.push_back(largest.value());
  result.size.push_back(largest.value());
}

void backward_row(const std::vector<double>& dy, const std::vector<double>& x,
                  const Parameters& parameters, const Affine& affine, Columns& columns,
                  Backward& result) {
  const bool x_is_finite = all_finite(x);
  std::vector<Real> xhat(x.size(), kNan.hi);
  RowStatistics s;
  if ((x_is_finite || affine.given().any) && !x.empty()) {
    s = statistics_of(x, parameters.form, affine.given());
    for (std::size_t i = 0; i < x.size(); ++i) xhat[i] = (x[i] - s.mean) * s.rstd;
  }
  add_to_columns(dy, xhat, parameters.form.centered, affine.floor(), columns);
  if (affine.given().any && affine.gain_is_finite()) {
    given_gradient_row(dy, s, affine, result);
  } else if (x_is_finite && all_finite(dy) && affine.gain_is_finite()) {
    gradient_row(dy, xhat, s, parameters.form, affine, result);
  } else {
    result.dx.insert(result.dx.end(), x.size(), kNan);
    result.scale.push_back(kNan);
    result.size.push_back(kNan);
  }
}

std::vector<Value> values(const std::vector<Real>& reals) {
  std::vector<Value> result;
  for (const Real& v : reals) result.push_back(v.value());
  return result;
}

// Columns that share a parameter share its gradient.
std::vector<Real> folded(const std::vector<Real>& columns, std::int64_t size) {
  std::vector<Real> result(static_cast<std::size_t>(size));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    result[c / (columns.size() / result.size())] += columns[c];
  }
  return result;
}

void append(std::vector<Value>& to, const std::vector<Real>& reals) {
  for (const Value& v : values(reals)) to.push_back(v);
}

Forward forward(const ConstGroupedRows& x, DType y, const Parameters& parameters) {
  Forward result;
  for (std::int64_t r = 0; r < x.at.groups * x.at.rows; ++r) {
    const Affine affine(parameters, r / x.at.rows, x.at.cols, compute_type(x.dtype, y));
    forward_row(row_of(x, r), parameters, affine, result);
  }
  return result;
}

// Sizes and groups of the gradients, whether or not they are wanted.
struct Wanted {
  std::int64_t groups = 1;
  std::int64_t dgamma = 0;
  std::int64_t dbeta = 0;
};

Wanted wanted_of(const ConstGroupedRows& x, const Parameters& parameters,
                 const ConstGroupedVector& dgamma, const ConstGroupedVector& dbeta) {
  Wanted wanted;
  wanted.dgamma = wanted.dbeta = x.at.cols;
  for (const ConstGroupedVector& v : {parameters.gamma, dgamma, dbeta}) {
    if (v.data == nullptr || v.group_stride == 0) continue;
    wanted.groups = x.at.groups;
    wanted.dgamma = wanted.dbeta = v.size;
  }
  if (parameters.form.gain == Gain::scalar) wanted.dgamma = 1;
  return wanted;
}

Backward backward(const ConstGroupedRows& dy, const ConstGroupedRows& x,
                  const Parameters& parameters, const ConstGroupedVector& dgamma = {},
                  const ConstGroupedVector& dbeta = {}) {
  Backward result;
  const DType compute = compute_type(x.dtype, dy.dtype);
  const Wanted wanted = wanted_of(x, parameters, dgamma, dbeta);
  const std::int64_t rows = wanted.groups > 0 ? x.at.groups * x.at.rows / wanted.groups : 0;
  for (std::int64_t group = 0; group < wanted.groups; ++group) {
    const std::vector<Real> zeros(x.at.cols);
    Columns columns = {zeros, zeros, zeros, zeros};
    for (std::int64_t r = group * rows; r < (group + 1) * rows; ++r) {
      const Affine affine(parameters, r / x.at.rows, x.at.cols, compute);
      backward_row(row_of(dy, r), row_of(x, r), parameters, affine, columns, result);
    }
    append(result.dgamma, folded(columns.dgamma, wanted.dgamma));
    append(result.dbeta, folded(columns.dbeta, wanted.dbeta));
    append(result.dgamma_scale, folded(columns.dgamma_scale, wanted.dgamma));
    append(result.dbeta_scale, folded(columns.dbeta_scale, wanted.dbeta));
  }
  return result;
}

}  // namespace

Forward layer_norm_forward(const LayerNormForward& args) {
  return forward(
      grouped(args.x), args.y.dtype,
      {reference::layer_norm_form(args.eps), grouped(args.gamma), grouped(args.beta), {}, {}});
}

Backward layer_norm_backward(const LayerNormBackward& args) {
  return backward(grouped(args.dy), grouped(args.x),
                  {reference::layer_norm_form(args.eps), grouped(args.gamma), {}, {}, {}});
}

Forward rms_norm_forward(const RmsNormForward& args) {
  return forward(
      grouped(args.x), args.y.dtype,
      {reference::rms_norm_form(args.add_one, args.eps), grouped(args.gamma), {}, {}, {}});
}

Backward rms_norm_backward(const RmsNormBackward& args) {
  return backward(
      grouped(args.dy), grouped(args.x),
      {reference::rms_norm_form(args.add_one, args.eps), grouped(args.gamma), {}, {}, {}});
}

Forward row_norm_forward(const RowNormForward& args) {
  return forward(grouped(args.x), args.y.dtype,
                 {args.form, grouped(args.gamma), grouped(args.beta), {}, {}});
}

Backward row_norm_backward(const RowNormBackward& args) {
  return backward(grouped(args.dy), grouped(args.x), {args.form, grouped(args.gamma), {}, {}, {}});
}

Forward grouped_norm_forward(const GroupedNormForward& args) {
  return forward(args.x, args.y.dtype, {args.form, args.gamma, args.beta, {}, args.given});
}

Backward grouped_norm_backward(const GroupedNormBackward& args) {
  return backward(args.dy, args.x, {args.form, args.gamma, {}, {}, args.given}, args.dgamma,
                  args.dbeta);
}

}  // namespace equinorm::truth
