// The operators that can be checked, in one list: `equinorm check`, its help and the tests of
// operators are made from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/trial.hpp"

namespace equinorm::conformance {

struct CheckedOperator {
  const char* name;
  bool quick;                ///< part of a survey that names no operator
  double bytes_per_element;  ///< measured: inputs, outputs, what both oracles say, and their bits
  std::vector<Subject> (*subjects)();
};

std::span<const CheckedOperator> checked_operators();

/// What may be asked for: "all", the operators, the named forms of row_norm.
std::vector<std::string> checked_names();

/// Subjects of one of these; of the quick operators where the name is empty.
std::vector<Subject> subjects_of(std::string_view name);

/// Of the operators behind that name, the most.
double bytes_per_element_of(std::string_view name);

}  // namespace equinorm::conformance
