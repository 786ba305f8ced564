// Every kernel stays within the stated bounds of the truth oracle.
//
// Bits do not depend on the instruction set (bits_test.cpp), so errors are measured on one.
#include <gtest/gtest.h>

#include <bit>

#include "conformance/bounds.hpp"
#include "conformance/matrix.hpp"
#include "example.hpp"

namespace equinorm::conformance {
namespace {

void expect_within_bounds(const Problem& problem) {
  const Inputs inputs = make_inputs(problem);
  Execution execution;
  execution.isa = available_isas().back();
  Call call(problem, inputs, execution);
  Context context;
  ASSERT_TRUE(call.run(context).ok()) << describe(problem);
  for (const Errors& errors : Yardstick(problem, inputs).measure(call.outputs())) {
    EXPECT_LE(errors.share, 1) << describe(problem) << ": " << name_of(errors.output)
                               << " is off by " << errors.scale_ulp << " scale ulp, "
                               << errors.output_ulp << " output ulp";
    if (problem.accuracy == Accuracy::exact || problem.cols < kTypicalColumns) continue;
    if (!is_typical(problem.family) || errors.output > Output::dx) continue;
    if (problem.op == Op::row_norm) continue;
    EXPECT_LE(errors.row_ulp, typical_row_ulp(errors.output, problem.types.compute()))
        << describe(problem) << ": " << name_of(errors.output);
  }
}

class Truth : public testing::TestWithParam<Kernel> {};

TEST_P(Truth, IsWithinTheStatedBoundForEveryKindOfInput) {
  const Kernel& kernel = GetParam();
  const bool all_sizes =
      kernel.x == kernel.y && kernel.form == nullptr && scale_from_environment() == Scale::full;
  for (const Problem& problem : bound_problems(kernel, all_sizes ? Scale::full : Scale::small)) {
    expect_within_bounds(problem);
  }
}

std::string test_name(const testing::TestParamInfo<Kernel>& info) {
  std::string name = name_of(info.param);
  for (char& c : name) c = c == '.' || c == '-' ? '_' : c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kernel, Truth, testing::ValuesIn(all_kernels()), test_name);
INSTANTIATE_TEST_SUITE_P(Form, Truth, testing::ValuesIn(form_kernels()), test_name);

Problem wide(Op op, Direction direction, DType type, std::int64_t cols) {
  Problem problem;
  problem.op = op;
  problem.direction = direction;
  problem.types.x = problem.types.y = type;
  problem.cols = cols;
  problem.family = Family::offset_1e2;
  problem.beta = false;
  return problem;
}

// Squares whose every addition in the first lane loses just under half a unit, in one direction.
Example row_that_rounds_one_way(Op op, DType type, int levels) {
  const std::int64_t lanes = type == DType::f64 ? 32 : 64;
  const double half = type == DType::f64 ? 0x1p-53 : 0x1p-24;
  std::vector<double> x;
  for (std::int64_t segment = 0; segment < std::int64_t{1} << levels; ++segment) {
    for (int step = 0; step < 8; ++step) {
      double square = 0.999 * half;
      if (segment > 0) square /= 8.0 * static_cast<double>(std::bit_floor(std::uint64_t(segment)));
      if (segment == 0 && step == 0) square = 1;
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        x.push_back(std::sqrt(square) * (op == Op::layer_norm && lane % 2 == 1 ? -1 : 1));
      }
    }
  }
  return example(op, type, x, 0);
}

TEST(TruthOfLongRows, IsWithinTheStatedBoundWhereEveryAdditionRoundsTheSameWay) {
  const int most = scale_from_environment() == Scale::full ? 9 : 6;
  for (const Op op : {Op::layer_norm, Op::rms_norm}) {
    for (const DType type : {DType::f32, DType::f64}) {
      for (int levels = 3; levels <= most; levels += 3) {
        const Example e = row_that_rounds_one_way(op, type, levels);
        Execution execution;
        execution.isa = available_isas().back();
        Call call(e.problem, e.inputs, execution);
        Context context;
        ASSERT_TRUE(call.run(context).ok());
        for (const Errors& errors : Yardstick(e.problem, e.inputs).measure(call.outputs())) {
          EXPECT_LE(errors.share, 1) << describe(e.problem);
          EXPECT_GT(errors.scale_ulp, 0.2 * levels) << "the row is no longer a hard one";
        }
      }
    }
  }
}

TEST(TruthOfLongRows, IsWithinTheStatedBoundForTenMillionColumns) {
  if (scale_from_environment() == Scale::full) {
    expect_within_bounds(wide(Op::layer_norm, Direction::forward, DType::f32, 10'000'000));
  }
  expect_within_bounds(wide(Op::rms_norm, Direction::forward, DType::f32, 100'003));
  expect_within_bounds(wide(Op::layer_norm, Direction::backward, DType::bf16, 100'003));
  expect_within_bounds(wide(Op::layer_norm, Direction::forward, DType::f64, 100'003));
}

}  // namespace
}  // namespace equinorm::conformance
