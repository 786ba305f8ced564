// Which arms share a panel, and how they are named in legends and panel titles.
#pragma once

#include <string>
#include <vector>

#include "lab/experiment/summary.hpp"
#include "lab/report/figure.hpp"

namespace equinorm::lab::report {

/// Arms of one placement, with the arm that has none in each group. One group when only one
/// placement was run.
struct ArmGroup {
  std::string placement;  ///< "pre", "post" or "" for the only group
  std::vector<const ArmSummary*> arms;
};

[[nodiscard]] std::vector<ArmGroup> group_by_placement(const TaskSummary& task);

[[nodiscard]] std::vector<LegendEntry> arm_legend(const TaskSummary& task);

/// "Held-out loss, Pre-Norm", or only the first part for the only group.
[[nodiscard]] std::string panel_title(const std::string& what, const std::string& placement);

}  // namespace equinorm::lab::report
