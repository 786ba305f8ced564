// The results as aligned text for a terminal; docs/compare.md says what each column means.
#pragma once

#include <string>
#include <vector>

#include "lab/experiment/job.hpp"
#include "lab/experiment/summary.hpp"

namespace equinorm::lab {

/// For each task a table of the arms and the paired differences to the baseline.
[[nodiscard]] std::string render_tables(const Summary& summary);

/// One paragraph per crash: its id, how it ended, the tail of its standard error.
[[nodiscard]] std::string render_crashes(const std::vector<Crash>& crashes);

/// One paragraph per crashed run: its id, how it ended, the tail of its standard error. Empty when
/// none crashed.
[[nodiscard]] std::string render_errors(const Comparison& comparison);

/// "0/6", or "3/6 [19-81 %]: 2 stall, 1 blow-up; 1 crashed".
[[nodiscard]] std::string describe_failures(const FailureCounts& failures);

}  // namespace equinorm::lab
