// Bounds and their measurement.
#include "conformance/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "reference/numbers.hpp"

namespace equinorm::conformance {

const char* name_of(Output output) {
  constexpr const char* kNames[] = {"y", "dx", "dgamma", "dbeta"};
  return kNames[static_cast<int>(output)];
}

Bound bound_of(Output output, Accuracy accuracy, DType compute, DType type) {
  const double rounding = type == compute ? 0 : 0.5;
  switch (output) {
    case Output::y:
      if (accuracy == Accuracy::standard) return {rounding, 3};
      if (compute == DType::f64) return {rounding, 1};
      return {0.5, 0x1p-23};
    case Output::dx:
      return {rounding, 4};
    case Output::dgamma:
      return {rounding, 20};
    case Output::dbeta:
      break;
  }
  return {rounding, 16};
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
namespace {

struct Part {
  Output output;
  const std::vector<std::uint64_t>& bits;
  DType type;
  const std::vector<truth::Value>& exact;
  const std::vector<truth::Value>& scale;
  std::int64_t elements_per_scale;
};

// Beyond this an f64 sum over rows may overflow, and no bound is stated.
bool is_bounded(const Part& part, const truth::Value& scale) {
  const bool is_sum = part.output == Output::dgamma || part.output == Output::dbeta;
  return !is_sum || truth::ilogb(scale) < 1023;
}

void measure_part(const Problem& problem, const Part& part, std::vector<Errors>& result) {
  if (part.bits.empty()) return;
  const DType compute = problem.types.compute();
  const Bound bound = bound_of(part.output, problem.accuracy, compute, part.type);
  Errors worst;
  worst.output = part.output;
  for (std::size_t i = 0; i < part.bits.size(); ++i) {
    const double computed = reference::load(&part.bits[i], part.type, 0);
    const truth::Value& exact = part.exact[i];
    const truth::Value& scale = part.scale[i / static_cast<std::size_t>(part.elements_per_scale)];
    if (!is_bounded(part, scale)) continue;
    const truth::Value output_unit = truth::ulp(exact, part.type);
    const truth::Value unit = truth::scale_ulp(scale, compute);
    const double in_scale_ulp = truth::error(computed, part.type, exact, unit);
    const double granted =
        bound.output_ulp * std::scalbn(output_unit.hi / unit.hi,
                                       static_cast<int>(output_unit.exponent - unit.exponent));
    worst.scale_ulp = std::max(worst.scale_ulp, in_scale_ulp - granted);
    worst.output_ulp =
        std::max(worst.output_ulp, truth::error(computed, part.type, exact, output_unit));
    worst.share = std::max(worst.share, in_scale_ulp / (granted + bound.scale_ulp));
  }
  result.push_back(worst);
}

}  // namespace

Yardstick::Yardstick(const Problem& problem, const Inputs& inputs) : problem_(problem) {
  Call call(problem, inputs, {});
  if (problem.direction == Direction::forward) {
    forward_ = call.forward_truth();
  } else {
    backward_ = call.backward_truth();
  }
}

std::vector<Errors> Yardstick::measure(const Outputs& outputs) const {
  std::vector<Errors> result;
  const Types& types = problem_.types;
  const std::int64_t cols = problem_.cols;
  const auto& [dx, dgamma, dbeta, scale, dgamma_scale, dbeta_scale] = backward_;
  for (const Part& part : {
           Part{Output::y, outputs.y, types.y, forward_.y, forward_.scale, cols},
           Part{Output::dx, outputs.dx, types.x, dx, scale, cols},
           Part{Output::dgamma, outputs.dgamma, types.gradient, dgamma, dgamma_scale, 1},
           Part{Output::dbeta, outputs.dbeta, types.gradient, dbeta, dbeta_scale, 1},
       }) {
    measure_part(problem_, part, result);
  }
  return result;
}
#endif

void merge(const Errors& errors, std::vector<Errors>& worst) {
  for (Errors& e : worst) {
    if (e.output != errors.output) continue;
    e.scale_ulp = std::max(e.scale_ulp, errors.scale_ulp);
    e.output_ulp = std::max(e.output_ulp, errors.output_ulp);
    e.share = std::max(e.share, errors.share);
    return;
  }
  worst.push_back(errors);
}

}  // namespace equinorm::conformance
