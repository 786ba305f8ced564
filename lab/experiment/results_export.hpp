// The results for other programs: one JSON document, one CSV line per run.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lab/experiment/summary.hpp"

namespace equinorm::lab {

/// Tasks, arms, rates and differences; numbers that do not exist are null.
[[nodiscard]] nlohmann::json export_summary(const Comparison& comparison, const Summary& summary);

/// A header and one line per planned run: finished, crashed or unfinished (column `status`).
/// Numbers that do not exist are empty.
[[nodiscard]] std::string export_csv(const Comparison& comparison);

}  // namespace equinorm::lab
