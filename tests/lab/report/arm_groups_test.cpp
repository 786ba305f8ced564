// Which arms share a panel, and that no two of them look alike there, in colour or without.
#include "lab/report/arm_groups.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>

#include "lab/experiment/run_plan.hpp"
#include "lab/models/placement.hpp"

namespace equinorm::lab::report {
namespace {

TaskSummary task_of(const std::vector<std::string>& norms,
                    const std::vector<std::string>& placements) {
  TaskSummary task;
  for (const Arm& arm : plan_arms(norms, placements)) {
    task.arms.emplace_back();
    task.arms.back().arm = arm;
  }
  return task;
}

std::vector<std::string> names_of(const ArmGroup& group) {
  std::vector<std::string> names;
  for (const ArmSummary* arm : group.arms) names.push_back(arm->arm.name());
  return names;
}

using Names = std::vector<std::string>;

TEST(ArmGroups, ArePlacementsWhereThereAreAtLeastAsManyNorms) {
  const TaskSummary task = task_of({"none", "layer", "rms"}, {"pre", "deepnorm"});
  EXPECT_EQ(contrast_of(task), Contrast::norms);
  const auto groups = group_arms(task);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(names_of(groups[0]), (Names{"none", "layer-pre", "rms-pre"}));
  EXPECT_EQ(names_of(groups[1]), (Names{"none", "layer-deepnorm", "rms-deepnorm"}));
  EXPECT_EQ(panel_title("Held-out loss", groups[0]), "Held-out loss, Pre-Norm");
  EXPECT_EQ(panel_title("Held-out loss", groups[1]), "Held-out loss, DeepNorm");
}

TEST(ArmGroups, AreNormsWhereThereAreMorePlacements) {
  const TaskSummary task = task_of({"layer", "rms"}, {"pre", "deepnorm", "peri", "rezero"});
  EXPECT_EQ(contrast_of(task), Contrast::placements);
  const auto groups = group_arms(task);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(names_of(groups[0]), (Names{"layer-pre", "layer-deepnorm", "layer-peri", "rezero"}));
  EXPECT_EQ(names_of(groups[1]), (Names{"rezero", "rms-pre", "rms-deepnorm", "rms-peri"}));
  EXPECT_EQ(panel_title("Gradient norm", groups[1]), "Gradient norm, RMSNorm");
  EXPECT_EQ(contrast_of(task_of({"rms"}, {"pre", "peri"})), Contrast::only_placements);
}

TEST(ArmGroups, AreOneWithoutATitleWhereThereIsNothingToTellApart) {
  for (const TaskSummary& task :
       {task_of({"layer"}, {"pre", "deepnorm", "rezero"}), task_of({"layer", "rms"}, {"peri"}),
        task_of({"none"}, {"pre", "rezero", "tfixup"})}) {
    const auto groups = group_arms(task);
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_EQ(groups[0].arms.size(), task.arms.size());
    EXPECT_EQ(panel_title("Held-out loss", groups[0]), "Held-out loss");
  }
}

// Marker, fill and dash: what is left without colour.
std::size_t looks_without_colour(const std::vector<Arm>& arms, Contrast contrast) {
  std::set<std::tuple<Marker, bool, std::string>> looks;
  for (const Arm& arm : arms) {
    const Style style = style_of_arm(arm, contrast);
    looks.emplace(style.marker, style.filled, style.dash);
  }
  return looks.size();
}

TEST(Styles, TellTheArmsOfOneNormApartByMarkerAndByDash) {
  const std::vector<Arm> arms = plan_arms({"layer"}, placement_names());
  std::set<std::pair<Marker, bool>> looks;
  std::set<std::string> dashes;
  for (const Arm& arm : arms) {
    const Style style = style_of_arm(arm, Contrast::only_placements);
    EXPECT_TRUE(looks.emplace(style.marker, style.filled).second) << arm.name();
    EXPECT_TRUE(dashes.insert(style.dash).second) << arm.name();
  }
  EXPECT_EQ(arms.size(), placements().size());
}

TEST(Styles, TellAllPlacementsOfTheFourNormsApart) {
  const std::vector<Arm> arms = plan_arms({"none", "batch", "layer", "rms"}, placement_names());
  EXPECT_EQ(looks_without_colour(arms, Contrast::placements), arms.size());
  EXPECT_EQ(looks_without_colour(arms, Contrast::norms), arms.size());
}

TEST(Styles, KeepSolidForPreAndOpenDashesForPost) {
  const Style pre = style_of_arm({"layer", "pre"}, Contrast::norms);
  const Style post = style_of_arm({"layer", "post"}, Contrast::norms);
  EXPECT_EQ(pre.dash, "");
  EXPECT_TRUE(pre.filled);
  EXPECT_EQ(post.dash, "6 3");
  EXPECT_FALSE(post.filled);
  EXPECT_EQ(pre.color, post.color);
}

}  // namespace
}  // namespace equinorm::lab::report
