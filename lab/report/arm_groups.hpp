// Which arms share a panel, what tells them apart there, and how they are named in legends and
// panel titles.
//
// The one trap: arms without a norm stand in every group, as what the others are seen against.
#pragma once

#include <string>
#include <vector>

#include "lab/experiment/summary.hpp"
#include "lab/report/figure.hpp"
#include "lab/report/style.hpp"

namespace equinorm::lab::report {

/// Arms of one panel.
struct ArmGroup {
  std::string key;    ///< "pre" or "layer", "" for the only group
  std::string title;  ///< "Pre-Norm" or "LayerNorm", "" for the only group
  std::vector<const ArmSummary*> arms;
};

/// Norms are told apart within a panel per placement; where there are more placements than norms,
/// placements within a panel per norm.
[[nodiscard]] Contrast contrast_of(const TaskSummary& task);

[[nodiscard]] std::vector<ArmGroup> group_arms(const TaskSummary& task);

[[nodiscard]] std::vector<LegendEntry> arm_legend(const TaskSummary& task);

/// "Held-out loss, Pre-Norm", or only the first part for the only group.
[[nodiscard]] std::string panel_title(const std::string& what, const ArmGroup& group);

}  // namespace equinorm::lab::report
