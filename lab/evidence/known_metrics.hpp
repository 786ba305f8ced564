// Which metrics and series the runs of a declaration can give, so that a misspelt name is an error
// before anything runs.
#pragma once

#include "lab/evidence/declaration.hpp"
#include "lab/evidence/plan.hpp"

namespace equinorm::lab {

/// Throws InputError "file:line: key = value: rule" for a metric or series that no run of the
/// declaration gives, in whatever tier.
void check_metrics(const Declaration& declaration, const RunKinds& kinds);

}  // namespace equinorm::lab
