// Tables that declarations ask for: arms by metrics, of their own runs or of another experiment's.
#pragma once

#include <string>
#include <vector>

#include "lab/evidence/declaration.hpp"
#include "lab/evidence/plan.hpp"

namespace equinorm::lab {

/// Other experiments whose runs the tables of a declaration show, each once.
[[nodiscard]] std::vector<std::string> sources_of(const Declaration& declaration);

/// Throws InputError "file:line: key = value: rule" for a table of an experiment that is not among
/// `known`, or of arms, metrics and settings that the experiment has not.
void check_tables(const Declaration& declaration, const std::vector<const Declaration*>& known,
                  const RunKinds& kinds);

}  // namespace equinorm::lab
