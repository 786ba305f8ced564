#include "lab/report/arm_groups.hpp"

#include <algorithm>

#include "lab/report/style.hpp"
#include "lab/report/wording.hpp"

namespace equinorm::lab::report {

std::vector<ArmGroup> group_by_placement(const TaskSummary& task) {
  std::vector<ArmGroup> groups;
  for (const char* placement : {"pre", "post"}) {
    const bool present =
        std::any_of(task.arms.begin(), task.arms.end(), [placement](const ArmSummary& arm) {
          return arm.arm.norm != "none" && arm.arm.placement == placement;
        });
    if (!present) continue;
    ArmGroup group{placement, {}};
    for (const ArmSummary& arm : task.arms) {
      if (arm.arm.norm == "none" || arm.arm.placement == placement) group.arms.push_back(&arm);
    }
    groups.push_back(group);
  }
  if (groups.size() == 1) groups[0].placement.clear();
  if (groups.empty()) {
    groups.push_back({});
    for (const ArmSummary& arm : task.arms) groups[0].arms.push_back(&arm);
  }
  return groups;
}

std::vector<LegendEntry> arm_legend(const TaskSummary& task) {
  std::vector<LegendEntry> legend;
  for (const ArmSummary& arm : task.arms) {
    legend.push_back({swatch(style_of_arm(arm.arm.norm, arm.arm.placement)), label_of(arm.arm)});
  }
  return legend;
}

std::string panel_title(const std::string& what, const std::string& placement) {
  if (placement.empty()) return what;
  return what + (placement == "pre" ? ", Pre-Norm" : ", Post-Norm");
}

}  // namespace equinorm::lab::report
