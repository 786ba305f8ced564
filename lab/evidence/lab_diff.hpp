// Two lab folders side by side: which metrics moved beyond their interval, which verdicts changed.
#pragma once

#include <string>

#include "lab/evidence/lab_results.hpp"

namespace equinorm::lab {

/// Equal seeds are paired. A metric with the same values at all of them is left out and counted.
[[nodiscard]] std::string render_diff(const LabResults& before, const LabResults& after);

}  // namespace equinorm::lab
