// Bounds and their measurement.
#include "conformance/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "reference/numbers.hpp"

namespace equinorm::conformance {

const char* name_of(Output output) {
  constexpr const char* kNames[] = {"y",      "dx",     "dgamma", "dbeta", "h",   "dresidual",
                                    "dscale", "dshift", "dgate",  "int8",  "fp8", "dalpha"};
  return kNames[static_cast<int>(output)];
}

namespace {

DType type_of(Output output, const Types& types) {
  switch (output) {
    case Output::y:
      return types.y;
    case Output::dx:
      return types.x;
    default:
      return types.gradient;
  }
}

struct Chunks {
  std::int64_t blocks_each;
  std::int64_t count;
};

Chunks chunks_of(std::int64_t rows) {
  const std::int64_t blocks = 4 * ((rows + 4095) / 4096);
  return {blocks, blocks == 0 ? 0 : (rows + 8 * blocks - 1) / (8 * blocks)};
}

// Additions in f64 after those in the block: they count only where C is f64 too.
double additions_after_block(std::int64_t rows) {
  const auto [blocks_each, count] = chunks_of(rows);
  return static_cast<double>(blocks_each + count);
}

}  // namespace

int roundings_in_reduction(std::int64_t cols, bool in_f64) {
  const std::int64_t lanes = in_f64 ? 32 : 64;
  const std::int64_t segments = (cols + 8 * lanes - 1) / (8 * lanes);
  int levels = 0;
  while ((std::int64_t{1} << levels) < segments) ++levels;
  return static_cast<int>(std::min<std::int64_t>(8, (cols + lanes - 1) / lanes)) + levels;
}

double depth_of(std::int64_t cols, bool in_f64) {
  return 0.25 * std::max(0, roundings_in_reduction(cols, in_f64) - 13);
}

double additions_in_rows(std::int64_t rows) {
  const auto [blocks_each, count] = chunks_of(rows);
  return static_cast<double>(8 * blocks_each + count);
}

Bound bound_of(Output output, const Problem& problem) {
  const DType compute = problem.types.compute();
  const bool in_f64 = compute == DType::f64;
  const double rounding = type_of(output, problem.types) == compute ? 0 : 0.5;
  const bool adaptive = problem.op == Op::row_norm && problem.form.gain == Gain::adaptive;
  const double depth = depth_of(problem.cols, in_f64);
  const double sums = in_f64 ? 0.5 * additions_after_block(problem.rows) : 0;
  switch (output) {
    case Output::y:
      // An adaptive gain is computed from xhat, whose error counts twice.
      if (problem.accuracy == Accuracy::standard) return {rounding, (adaptive ? 6 : 3) + depth};
      if (in_f64) return {rounding, adaptive ? 3.0 : 2.0};
      return {0.5, adaptive ? 0x1p-22 : 0x1p-23};
    case Output::dx:
      return {rounding, (adaptive ? 8 : 4) + depth};
    case Output::dgamma:
    case Output::dscale:
      return {rounding, 8 + sums};
    default:
      return {rounding, 4 + sums};
  }
}

Bound segment_bound_of(Output output, const Problem& problem, std::int64_t segment) {
  const DType compute = problem.types.compute();
  const bool in_f64 = compute == DType::f64;
  const double rounding = problem.types.gradient == compute ? 0 : 0.5;
  // Half a scale ulp for each rounding in a row, in f64 for each row too, and the error of xhat.
  const double sums = 0.5 * roundings_in_reduction(segment, in_f64) +
                      (in_f64 ? 0.5 * (static_cast<double>(problem.rows) + 6) : 0.5);
  return {rounding, (output == Output::dgamma ? 4 : 0) + sums};
}

double typical_row_ulp(Output output, DType compute) {
  // In f64 the statistics have no wider type to be computed in.
  if (compute == DType::f64) return output == Output::y ? 3 : 4;
  return output == Output::y ? 2.5 : 3;
}

bool is_typical(Family family) {
  switch (family) {
    case Family::normal:
    case Family::offset_1e2:
    case Family::offset_1e4:
    case Family::offset_1e6:
    case Family::offset_1e8:
    case Family::scale_tiny:
    case Family::scale_small:
    case Family::scale_large:
    case Family::scale_huge:
    case Family::heavy_tails:
    case Family::outlier:
    case Family::constant:
    case Family::alternating:
      return true;
    default:
      return false;
  }
}

std::string describe(const Bound& bound) {
  char text[64];
  if (bound.output_ulp == 0) {
    std::snprintf(text, sizeof text, "%.3g scale ulp", bound.scale_ulp);
  } else {
    std::snprintf(text, sizeof text, "%g output ulp + %.3g scale ulp", bound.output_ulp,
                  bound.scale_ulp);
  }
  return text;
}

#if EQUINORM_HAS_TRUTH
double share_of(double error, double granted) {
  const double share = error == 0 ? 0 : error / granted;
  return std::isnan(share) ? HUGE_VAL : share;
}

Errors measure(DType compute, const Bound& bound, const Part& part) {
  Errors worst;
  worst.output = part.output;
  worst.bound = bound.scale_ulp;
  for (std::size_t i = 0; i < part.bits.size(); ++i) {
    const double computed = reference::load(&part.bits[i], part.type, 0);
    const truth::Value& exact = part.exact[i];
    const std::size_t row = i / static_cast<std::size_t>(part.elements_per_scale);
    const truth::Value& scale = part.scale[row];
    const truth::Value& size = part.size[row];
    if (truth::ilogb(scale) >= part.limit) continue;
    const truth::Value output_unit = truth::ulp(exact, part.type);
    const double output_ulp = truth::error(computed, part.type, exact, output_unit);
    // In `unit`, and what the bound grants the output's own rounding, in `unit` too.
    const auto in = [&](const truth::Value& unit) {
      const double error = truth::error(computed, part.type, exact, unit);
      const double granted = std::scalbn(bound.output_ulp * (output_unit.hi / unit.hi),
                                         static_cast<int>(output_unit.exponent - unit.exponent));
      return std::pair(error, granted);
    };
    const auto [error, granted] = in(truth::scale_ulp(scale, compute));
    const auto [row_error, row_granted] = in(truth::ulp(size, compute));
    worst.scale_ulp = std::max(worst.scale_ulp, error - granted);
    worst.row_ulp = std::max(worst.row_ulp, row_error - row_granted);
    worst.output_ulp = std::max(worst.output_ulp, output_ulp);
    worst.share = std::max(worst.share, share_of(error, granted + bound.scale_ulp));
  }
  return worst;
}

Yardstick::Yardstick(const Problem& problem, const Inputs& inputs) : problem_(problem) {
  Call call(problem, inputs, {});
  if (problem.direction == Direction::forward) {
    forward_ = call.forward_truth();
  } else {
    backward_ = call.backward_truth();
  }
}

std::vector<Errors> measure(const Types& types, std::int64_t cols,
                            const std::function<Bound(Output)>& bound, const Outputs& outputs,
                            const truth::Forward& forward, const truth::Backward& backward) {
  std::vector<Errors> result;
  const auto& [dx, dgamma, dbeta, scale, size, dgamma_scale, dbeta_scale] = backward;
  for (const Part& part : {
           Part{Output::y, types.y, outputs.y, forward.y, forward.scale, forward.size, cols},
           Part{Output::dx, types.x, outputs.dx, dx, scale, size, cols},
           Part{Output::dgamma, types.gradient, outputs.dgamma, dgamma, dgamma_scale, dgamma_scale,
                1, kSumLimit},
           Part{Output::dbeta, types.gradient, outputs.dbeta, dbeta, dbeta_scale, dbeta_scale, 1,
                kSumLimit},
       }) {
    if (!part.bits.empty()) result.push_back(measure(types.compute(), bound(part.output), part));
  }
  return result;
}

std::vector<Errors> Yardstick::measure(const Outputs& outputs) const {
  return conformance::measure(
      problem_.types, problem_.cols, [this](Output output) { return bound_of(output, problem_); },
      outputs, forward_, backward_);
}
#endif

void merge(const Errors& errors, std::vector<Errors>& worst) {
  for (Errors& e : worst) {
    if (e.output != errors.output) continue;
    e.scale_ulp = std::max(e.scale_ulp, errors.scale_ulp);
    e.row_ulp = std::max(e.row_ulp, errors.row_ulp);
    e.output_ulp = std::max(e.output_ulp, errors.output_ulp);
    e.share = std::max(e.share, errors.share);
    e.bound = std::min(e.bound, errors.bound);
    return;
  }
  worst.push_back(errors);
}

}  // namespace equinorm::conformance
