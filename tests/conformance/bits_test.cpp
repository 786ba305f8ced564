// Every kernel gives the bits of the contract oracle, however it is run.
//
// EQUINORM_TEST_SCALE=small runs a sample of the matrix, for emulators and sanitizers.
#include <gtest/gtest.h>

#include "conformance/matrix.hpp"

namespace equinorm::conformance {
namespace {

// Compares each problem in each execution on every instruction set; stops at the third failure of a
// kernel, as one fault usually shows everywhere.
void expect_equal_bits(const std::vector<Problem>& problems) {
  Context context;
  int failures = 0;
  for (const Problem& problem : problems) {
    const Inputs inputs = make_inputs(problem);
    const Outputs expected_outputs = expected(problem, inputs);
    for (const Isa isa : available_isas()) {
      for (const Execution& execution : executions(problem, isa)) {
        const std::string text = compare(problem, inputs, expected_outputs, execution, context);
        EXPECT_EQ(text, "");
        if (!text.empty() && ++failures == 3) return;
      }
    }
  }
}

// The named forms run the kernels of the list with other numbers: a sample of the matrix each.
Scale scale_of(const Kernel& kernel) {
  return kernel.form != nullptr ? Scale::small : scale_from_environment();
}

class Bits : public testing::TestWithParam<Kernel> {};

TEST_P(Bits, AreTheContractsForEveryColumnCount) {
  expect_equal_bits(size_problems(GetParam(), scale_of(GetParam())));
}

TEST_P(Bits, AreTheContractsForEveryKindOfInput) {
  expect_equal_bits(family_problems(GetParam(), scale_of(GetParam())));
}

TEST_P(Bits, AreTheContractsForEveryRowCount) {
  expect_equal_bits(row_problems(GetParam(), scale_of(GetParam())));
}

TEST_P(Bits, AreTheContractsForLongRows) {
  expect_equal_bits(long_row_problems(GetParam(), scale_of(GetParam())));
}

std::string test_name(const testing::TestParamInfo<Kernel>& info) {
  std::string name = name_of(info.param);
  for (char& c : name) c = c == '.' || c == '-' ? '_' : c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kernel, Bits, testing::ValuesIn(all_kernels()), test_name);
INSTANTIATE_TEST_SUITE_P(Form, Bits, testing::ValuesIn(form_kernels()), test_name);

}  // namespace
}  // namespace equinorm::conformance
