#include <gtest/gtest.h>

#include <set>

#include "lab/experiment/run_plan.hpp"
#include "lab/models/placement.hpp"
#include "lab/run_config_json.hpp"

namespace equinorm::lab {
namespace {

std::vector<std::string> names(const std::vector<Arm>& arms) {
  std::vector<std::string> result;
  for (const Arm& arm : arms) result.push_back(arm.name());
  return result;
}

TEST(PlanArms, none_is_one_arm_whatever_the_placements) {
  EXPECT_EQ(names(plan_arms({"none", "layer"}, {"pre", "post"})),
            (std::vector<std::string>{"none", "layer-pre", "layer-post"}));
  EXPECT_EQ(plan_arms({"none"}, {"post"}), plan_arms({"none"}, {"pre"}));
}

TEST(PlanArms, placements_without_a_norm_are_one_arm_each_whatever_the_norms) {
  EXPECT_EQ(names(plan_arms({"layer", "rms"}, {"pre", "rezero", "tfixup", "none"})),
            (std::vector<std::string>{"layer-pre", "rezero", "tfixup", "none", "rms-pre"}));
  EXPECT_EQ(names(plan_arms({"none"}, {"deepnorm", "rezero", "peri", "none"})),
            (std::vector<std::string>{"none", "rezero"}));
  EXPECT_EQ(plan_arms({"layer"}, {"none"}), plan_arms({"none"}, {"pre"}));
}

TEST(PlanArms, names_of_arms_tell_them_apart) {
  std::set<std::string> seen;
  const std::vector<Arm> arms = plan_arms({"none", "batch", "layer", "rms"}, placement_names());
  for (const Arm& arm : arms) EXPECT_TRUE(seen.insert(arm.name()).second) << arm.name();
  EXPECT_EQ(arms.size(), 3 * (placements().size() - 3) + 3);
}

TEST(PlanArms, all_norms_at_both_placements_are_seven_arms) {
  EXPECT_EQ(plan_arms({"none", "batch", "layer", "rms"}, {"pre", "post"}).size(), 7u);
}

TEST(ChooseBaseline, is_layer_pre_where_present_and_the_first_arm_otherwise) {
  EXPECT_EQ(choose_baseline(plan_arms({"none", "rms", "layer"}, {"post", "pre"})), "layer-pre");
  EXPECT_EQ(choose_baseline(plan_arms({"rms", "layer"}, {"post"})), "rms-post");
}

ComparePlan two_of_everything() {
  ComparePlan plan;
  RunConfig images;
  images.depth = 1;
  RunConfig text;
  text.task = "bible";
  text.depth = 2;
  plan.tasks = {images, text};
  plan.arms = plan_arms({"none", "layer"}, {"pre"});
  plan.learning_rates = {0.001, 0.01};
  plan.seeds = {4, 9};
  return plan;
}

TEST(PlanRuns, runs_every_combination_once) {
  const auto runs = plan_runs(two_of_everything());
  EXPECT_EQ(runs.size(), 16u);
  std::set<std::string> ids;
  for (const RunConfig& run : runs) ids.insert(run_id(run));
  EXPECT_EQ(ids.size(), 16u);
}

TEST(PlanRuns, ends_a_seed_before_the_next_and_alternates_arms_within) {
  const auto runs = plan_runs(two_of_everything());
  for (std::size_t i = 0; i < runs.size(); ++i) EXPECT_EQ(runs[i].seed, i < 8 ? 4u : 9u);
  EXPECT_EQ(runs[0].norm, "none");
  EXPECT_EQ(runs[1].norm, "layer");
  EXPECT_EQ(runs[0].task, "fashion-mnist");
  EXPECT_EQ(runs[2].task, "bible");
  EXPECT_EQ(runs[3].learning_rate, 0.001);
  EXPECT_EQ(runs[4].learning_rate, 0.01);
}

TEST(PlanRuns, keeps_the_settings_of_each_task) {
  for (const RunConfig& run : plan_runs(two_of_everything())) {
    EXPECT_EQ(run.depth, run.task == "bible" ? 2 : 1);
  }
}

}  // namespace
}  // namespace equinorm::lab
