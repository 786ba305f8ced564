// Runs problems of one kernel on one instruction set, compares bits and measures errors: the work
// of `equinorm check`.
#pragma once

#include <string>
#include <vector>

#include "conformance/bounds.hpp"
#include "conformance/matrix.hpp"

namespace equinorm::conformance {

/// Worst errors of one output of a kernel over the problems of one family.
struct FamilyErrors {
  Family family = Family::normal;
  std::vector<Errors> worst;
};

struct Report {
  Kernel kernel;
  Isa isa = Isa::portable;
  int comparisons = 0;                 ///< executions compared with the contract oracle
  int differences = 0;                 ///< of these, how many were not equal
  std::string first_difference;        ///< one line, enough to run it again
  std::vector<Errors> worst;           ///< standard accuracy
  std::vector<Errors> worst_exact;     ///< exact accuracy
  std::vector<FamilyErrors> families;  ///< standard accuracy

  [[nodiscard]] bool passed() const;
};

/// Adds one problem, in each of `executions`, to the reports, one for each instruction set. Errors
/// are measured where `with_errors` is set and the truth oracle is there.
void add_problem(const Problem& problem, const std::vector<int>& threads, bool with_errors,
                 std::vector<Report>& reports);

}  // namespace equinorm::conformance
