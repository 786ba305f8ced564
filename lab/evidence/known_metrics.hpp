// Which metrics and series the runs of a declaration can give, so that a misspelt name is an error
// before anything runs.
#pragma once

#include <set>
#include <string>

#include "lab/evidence/declaration.hpp"
#include "lab/evidence/plan.hpp"

namespace equinorm::lab {

/// Metrics that a run of the declaration can give, in whatever tier.
[[nodiscard]] std::set<std::string> metrics_of(const Declaration& declaration,
                                               const RunKinds& kinds);

/// True for what a run ended at: says nothing of two runs which both ended above the plateau.
[[nodiscard]] bool is_end_of_training(const std::string& metric);

/// Throws InputError "file:line: key = value: rule" for a metric or series that no run of the
/// declaration gives, in whatever tier.
void check_metrics(const Declaration& declaration, const RunKinds& kinds);

}  // namespace equinorm::lab
