// One small known case: explicit inputs, run through every instruction set, layout and thread
// count, compared with the contract bit for bit and with the truth by the stated bounds.
//
// The one trap: inputs are rounded to the storage type first; expected values are those of exact
// arithmetic on the rounded inputs.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "conformance/bounds.hpp"
#include "conformance/matrix.hpp"
#include "reference/numbers.hpp"

namespace equinorm::conformance {

inline constexpr DType kAllTypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16};
inline constexpr Op kBothOps[] = {Op::layer_norm, Op::rms_norm};

inline std::vector<double> rounded(std::vector<double> values, DType type) {
  for (double& v : values) {
    std::uint64_t bits = 0;
    reference::store(&bits, type, 0, v);
    v = reference::load(&bits, type, 0);
  }
  return values;
}

struct Example {
  Problem problem;
  Inputs inputs;
};

/// `rows` rows of x in all types of `type`, without gamma and beta.
inline Example example(Op op, DType type, std::vector<double> x, double eps,
                       std::int64_t rows = 1) {
  Example e;
  e.problem.op = op;
  e.problem.types = {type, type, type, type};
  e.problem.rows = rows;
  e.problem.cols = static_cast<std::int64_t>(x.size()) / rows;
  e.problem.gamma = e.problem.beta = false;
  e.problem.eps = eps;
  e.inputs.x = rounded(std::move(x), type);
  return e;
}

inline Example with_affine(Example e, std::vector<double> gamma, std::vector<double> beta) {
  e.problem.gamma = !gamma.empty();
  e.problem.beta = !beta.empty();
  e.inputs.gamma = rounded(std::move(gamma), e.problem.types.parameter);
  e.inputs.beta = rounded(std::move(beta), e.problem.types.parameter);
  return e;
}

inline Example backward(Example e, std::vector<double> dy) {
  e.problem.direction = Direction::backward;
  e.problem.beta = false;
  e.inputs.beta.clear();
  e.inputs.dy = rounded(std::move(dy), e.problem.types.y);
  return e;
}

/// Results as numbers.
struct Results {
  std::vector<double> y;
  std::vector<double> dx;
  std::vector<double> dgamma;
  std::vector<double> dbeta;
};

inline std::vector<double> numbers(const std::vector<std::uint64_t>& bits, DType type) {
  std::vector<double> values;
  for (const std::uint64_t v : bits) values.push_back(reference::load(&v, type, 0));
  return values;
}

/// Runs everywhere, expects bits and bounds, returns the results.
inline Results run_everywhere(const Example& e) {
  Context context;
  const Outputs outputs = expected(e.problem, e.inputs);
  for (const Isa isa : available_isas()) {
    for (const Execution& execution : executions(e.problem, isa)) {
      EXPECT_EQ(compare(e.problem, e.inputs, outputs, execution, context), "");
    }
  }
#if EQUINORM_HAS_TRUTH
  for (const Errors& errors : Yardstick(e.problem, e.inputs).measure(outputs)) {
    EXPECT_LE(errors.share, 1) << describe(e.problem) << ' ' << name_of(errors.output);
  }
#endif
  const Types& types = e.problem.types;
  return {numbers(outputs.y, types.y), numbers(outputs.dx, types.x),
          numbers(outputs.dgamma, types.gradient), numbers(outputs.dbeta, types.gradient)};
}

/// Each value within `digits` (half of the literal's last digit) and 3 scale ulp of f32.
inline void expect_values(const std::vector<double>& actual, const std::vector<double>& literal,
                          double digits) {
  ASSERT_EQ(actual.size(), literal.size());
  double scale = 0;
  for (const double v : literal) scale = std::max(scale, std::abs(v));
  for (std::size_t i = 0; i < literal.size(); ++i) {
    EXPECT_NEAR(actual[i], literal[i], digits + 3 * 0x1p-23 * scale) << "element " << i;
  }
}

}  // namespace equinorm::conformance
