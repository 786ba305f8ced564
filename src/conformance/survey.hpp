// Runs trials of one subject on several instruction sets, compares bits and measures errors: the
// work of `equinorm check`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/trial.hpp"

namespace equinorm::conformance {

/// Worst errors of one output of a subject over the trials of one family.
struct FamilyErrors {
  Family family = Family::normal;
  std::vector<Errors> worst;
};

struct Report {
  Subject subject;
  Isa isa = Isa::portable;
  int comparisons = 0;                 ///< executions compared with the contract oracle
  int differences = 0;                 ///< of these, how many were not equal
  std::string first_difference;        ///< one line, enough to run it again
  std::vector<Errors> worst;           ///< standard accuracy
  std::vector<Errors> worst_exact;     ///< exact accuracy
  std::vector<FamilyErrors> families;  ///< standard accuracy

  [[nodiscard]] bool passed() const;
};

/// "grouped_norm.fwd.bf16.avx2"
std::string name_of(const Report& report);

/// Adds a trial to the reports, one for each instruction set.
void add_trial(Trial& trial, std::optional<int> threads, std::vector<Report>& reports);

}  // namespace equinorm::conformance
