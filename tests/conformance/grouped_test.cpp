// grouped_norm gives the bits of the contract oracle and keeps the stated bounds, wherever its rows
// lie, however its parameters are shared, with given statistics and without.
#include <gtest/gtest.h>

#include "conformance/grouped.hpp"
#include "conformance/matrix.hpp"

namespace equinorm::conformance {
namespace {

struct Case {
  Direction direction;
  DType x;
  DType y;
};

class Grouped : public testing::TestWithParam<Case> {
 protected:
  static int turns() { return scale_from_environment() == Scale::full ? 480 : 60; }
};

std::vector<GroupedExecution> executions(const GroupedProblem& problem, Isa isa, int turn) {
  std::vector<GroupedExecution> result(4);
  constexpr int kThreads[] = {1, 2, 3, 7};
  for (int i = 0; i < 4; ++i) {
    result[i].isa = isa;
    result[i].threads = kThreads[i];
    result[i].order = order_of(5 * turn + 7 * i);
  }
  result[1].in_place = problem.base.types.x == problem.base.types.y;
  result[2].wanted = {turn % 2 == 0, turn % 3 != 0, true};
  result[3].wanted = {true, true, turn % 2 == 0};
  return result;
}

TEST_P(Grouped, GivesTheContractsBitsInEveryArrangement) {
  const auto [direction, x, y] = GetParam();
  Context context;
  int failures = 0;
  for (int turn = 0; turn < turns(); ++turn) {
    const GroupedProblem problem = grouped_problem(turn, direction, x, y);
    const GroupedInputs inputs = make_inputs(problem);
    const Outputs want = expected(problem, inputs);
    for (const Isa isa : available_isas()) {
      for (const GroupedExecution& execution : executions(problem, isa, turn)) {
        const std::string text = compare(problem, inputs, want, execution, context);
        EXPECT_EQ(text, "");
        if (!text.empty() && ++failures == 3) return;
      }
    }
  }
}

#if EQUINORM_HAS_TRUTH
TEST_P(Grouped, IsWithinTheStatedBounds) {
  const auto [direction, x, y] = GetParam();
  for (int turn = 0; turn < turns(); ++turn) {
    const GroupedProblem problem = grouped_problem(turn, direction, x, y);
    const GroupedInputs inputs = make_inputs(problem);
    for (const Errors& errors : measure(problem, inputs, expected(problem, inputs))) {
      EXPECT_LE(errors.share, 1) << describe(problem) << ": " << name_of(errors.output)
                                 << " is off by " << errors.scale_ulp << " scale ulp";
    }
  }
}
#endif

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    for (const auto& [x, y] :
         {std::pair(DType::f64, DType::f64), std::pair(DType::f32, DType::f32),
          std::pair(DType::f16, DType::f16), std::pair(DType::bf16, DType::bf16),
          std::pair(DType::bf16, DType::f32), std::pair(DType::f32, DType::f64)}) {
      result.push_back({direction, x, y});
    }
  }
  return result;
}

INSTANTIATE_TEST_SUITE_P(All, Grouped, testing::ValuesIn(cases()), [](const auto& test) {
  const Case& c = test.param;
  return std::string(name_of(c.direction)) + "_" + name_of(c.x) + "_" + name_of(c.y);
});

}  // namespace
}  // namespace equinorm::conformance
