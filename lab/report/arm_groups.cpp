#include "lab/report/arm_groups.hpp"

#include <algorithm>

#include "lab/report/wording.hpp"

namespace equinorm::lab::report {
namespace {

// What the arms that have a norm differ in, in order of appearance.
std::vector<std::string> values_of(const TaskSummary& task, std::string Arm::*field) {
  std::vector<std::string> values;
  for (const ArmSummary& arm : task.arms) {
    const std::string& value = arm.arm.*field;
    if (arm.arm.norm == "none") continue;
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

}  // namespace

Contrast contrast_of(const TaskSummary& task) {
  const std::size_t norms = values_of(task, &Arm::norm).size();
  if (values_of(task, &Arm::placement).size() <= norms) return Contrast::norms;
  return norms == 1 ? Contrast::only_placements : Contrast::placements;
}

std::vector<ArmGroup> group_arms(const TaskSummary& task) {
  const bool per_placement = contrast_of(task) == Contrast::norms;
  std::string Arm::*field = per_placement ? &Arm::placement : &Arm::norm;
  std::vector<std::string> keys = values_of(task, field);
  if (keys.size() < 2) keys = {""};
  std::vector<ArmGroup> groups;
  for (const std::string& key : keys) {
    ArmGroup group{key, "", {}};
    if (!key.empty()) group.title = per_placement ? placement_label(key) : norm_label(key);
    for (const ArmSummary& arm : task.arms) {
      if (key.empty() || arm.arm.norm == "none" || arm.arm.*field == key) {
        group.arms.push_back(&arm);
      }
    }
    groups.push_back(group);
  }
  return groups;
}

std::vector<LegendEntry> arm_legend(const TaskSummary& task) {
  const Contrast contrast = contrast_of(task);
  std::vector<LegendEntry> legend;
  for (const ArmSummary& arm : task.arms) {
    legend.push_back({swatch(style_of_arm(arm.arm, contrast)), label_of(arm.arm)});
  }
  return legend;
}

std::string panel_title(const std::string& what, const ArmGroup& group) {
  return group.title.empty() ? what : what + ", " + group.title;
}

}  // namespace equinorm::lab::report
