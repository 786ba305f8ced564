// Every operator of the list that `equinorm check` surveys gives the bits of the contract oracle
// and keeps the stated bounds. Those with kernels of their own have larger matrices in
// bits_test.cpp and truth_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "conformance/matrix.hpp"
#include "conformance/operators.hpp"

namespace equinorm::conformance {
namespace {

std::vector<Subject> without_kernels() {
  std::vector<Subject> result;
  for (const CheckedOperator& op : checked_operators()) {
    if (op.quick || std::string_view(op.name) == "row_norm") continue;
    for (Subject& subject : op.subjects()) result.push_back(std::move(subject));
  }
  return result;
}

class Operators : public testing::TestWithParam<Subject> {
 protected:
  static Amount amount() { return {.scale = scale_from_environment()}; }
};

TEST_P(Operators, GiveTheContractsBits) {
  Context context;
  int failures = 0;
  GetParam().each(amount(), [&](Trial& trial) {
    for (const Isa isa : available_isas()) {
      for (const std::string& difference : trial.compare(isa, {}, context)) {
        if (difference.empty() || ++failures > 3) continue;
        ADD_FAILURE() << difference;
      }
    }
  });
}

#if EQUINORM_HAS_TRUTH
// Bits do not depend on the instruction set, so errors are measured on one, and for a third of the
// trials, of every family.
TEST_P(Operators, AreWithinTheStatedBounds) {
  Context context;
  std::set<Output> seen;
  int number = 0;
  GetParam().each(amount(), [&](Trial& trial) {
    if (number++ % 3 != 0) return;
    for (const Errors& errors : trial.measure(available_isas().back(), context)) {
      seen.insert(errors.output);
      EXPECT_LE(errors.share, 1) << trial.text() << ": " << name_of(errors.output) << " is off by "
                                 << errors.scale_ulp << " scale ulp";
    }
  });
  EXPECT_FALSE(seen.empty());
}
#endif

INSTANTIATE_TEST_SUITE_P(All, Operators, testing::ValuesIn(without_kernels()),
                         [](const auto& test) {
                           std::string name = name_of(test.param);
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return c == '.' || c == '-'; }, '_');
                           return name;
                         });

TEST(ListOfOperators, HasNamesThatMeanSubjects) {
  std::set<std::string> names;
  for (const std::string& name : checked_names()) {
    EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
    EXPECT_FALSE(subjects_of(name).empty()) << name;
  }
  EXPECT_FALSE(subjects_of("").empty());
  EXPECT_LT(subjects_of("").size(), subjects_of("all").size());
  EXPECT_TRUE(subjects_of("no_such_norm").empty());
}

TEST(ListOfOperators, HasTrialsOfBothAccuraciesInAnyShape) {
  for (const Accuracy accuracy : {Accuracy::standard, Accuracy::exact}) {
    for (const CheckedOperator& op : checked_operators()) {
      const Subject subject = op.subjects().front();
      int count = 0;
      subject.each({.rows = 2, .cols = 5, .accuracy = accuracy}, [&](Trial& trial) {
        EXPECT_EQ(trial.accuracy(), accuracy);
        ++count;
      });
      EXPECT_GT(count, 0) << op.name;
    }
  }
}

}  // namespace
}  // namespace equinorm::conformance
