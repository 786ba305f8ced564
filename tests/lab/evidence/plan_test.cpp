// What a declaration becomes: runs, their order, their shards.
#include "lab/evidence/plan.hpp"

#include <gtest/gtest.h>

#include <set>

#include "lab/run_config_json.hpp"
#include "made_up.hpp"

namespace equinorm::lab {
namespace {

using testing::declaration_text;
using testing::made_up_kinds;

const std::string kTraining = R"(id = "T"
title = "t"
question = "q"
metric = "loss"
learning_rates = [1e-3, 1e-2]
seeds = 2
[base]
task = "bible"
depth = 3
[axes]
warmup = [0, 10]
[[arm]]
name = "pre"
placement = "pre"
[[arm]]
name = "post"
placement = "post"
depth = 4
[tier.full]
seeds = 3
arms = ["pre"]
base = { steps = 1000 }
)";

LabRequest request_of(const std::string& tier, std::optional<int> seeds = {}) {
  LabRequest request;
  request.tier = tier;
  request.seeds = seeds;
  return request;
}

std::vector<PlannedRun> plan(const std::string& text, const LabRequest& request = {}) {
  return plan_experiment(parse_declaration(text, "x.toml"), request, made_up_kinds());
}

TEST(Plan, CrossesSeedsRatesPointsAndArmsSeedBySeed) {
  const auto runs = plan(kTraining);
  ASSERT_EQ(runs.size(), 16u);
  EXPECT_EQ(runs.front().seed, 0u);
  EXPECT_EQ(runs.at(8).seed, 1u);
  EXPECT_EQ(runs.at(1).arm, "post");
  EXPECT_EQ(runs.at(1).config->depth, 4);  // the arm wins over the base
  EXPECT_EQ(runs.at(2).config->warmup, 10);
  EXPECT_EQ(runs.at(4).config->learning_rate, 1e-2);
  std::set<std::string> ids;
  for (const PlannedRun& run : runs) ids.insert(run.job.id);
  EXPECT_EQ(ids.size(), runs.size());
}

TEST(Plan, GivesEveryBatchAsManySamplesAsTheReference) {
  std::string text = kTraining;
  text.replace(text.find("warmup = [0, 10]"), 16, "batch = [4, 64]");
  text.replace(text.find("depth = 3"), 9,
               "reference_batch = 16\nsteps = 100\nwarmup = 10\neval_every = 25\n"
               "instrument_every = 0");
  const auto runs = plan(text);
  const RunConfig small = *runs.at(0).config;
  EXPECT_EQ(small.batch, 4);
  EXPECT_EQ(small.steps, 400);
  EXPECT_EQ(small.warmup, 40);
  EXPECT_EQ(small.eval_every, 100);
  EXPECT_EQ(small.instrument_every, 0);
  const RunConfig large = *runs.at(2).config;
  EXPECT_EQ(large.batch, 64);
  EXPECT_EQ(large.steps, 25);
  EXPECT_EQ(large.warmup, 3);
  EXPECT_EQ(large.eval_every, 6);
  text.replace(text.find("reference_batch = 16"), 20, "reference_batch = 0 ");
  EXPECT_THROW(plan(text), InputError);
}

TEST(Plan, TakesWhatTheTierAndTheCommandLineChange) {
  EXPECT_EQ(plan(kTraining, request_of("full")).size(), 12u);
  EXPECT_EQ(plan(kTraining, request_of("full")).front().config->steps, 1000);
  EXPECT_EQ(plan(kTraining, request_of("quick", 5)).size(), 40u);
}

TEST(Plan, MeasurementsHaveNoRates) {
  const auto runs = plan(declaration_text());
  EXPECT_EQ(runs.size(), 16u);
  EXPECT_FALSE(runs.front().config.has_value());
}

TEST(Plan, EqualRunsOfTwoExperimentsAreOneRun) {
  std::string other = kTraining;
  other.replace(0, 8, "id = \"U\"");
  EXPECT_EQ(plan(kTraining).front().job.id, plan(other).front().job.id);
}

TEST(Plan, TheNameOfARunWithNoNewSettingIsWhatItAlwaysWas) {
  RunConfig config;
  EXPECT_EQ(run_id(config), "fashion-mnist-layer-pre-lr0.001-s0-" + run_id(config).substr(35));
  nlohmann::json json = config;
  for (const char* later : {"qk_norm", "gain_start", "affine", "probes", "dropout_place",
                            "placement_parts", "train_samples"}) {
    EXPECT_FALSE(json.contains(later)) << later;
  }
  config.affine = "frozen";
  json = config;
  EXPECT_EQ(json.at("affine"), "frozen");
  EXPECT_EQ(json.get<RunConfig>().affine, "frozen");
}

TEST(Plan, KeepsTheSourcesOfOneTaskApart) {
  std::string text = kTraining;
  text.replace(text.find("task = \"bible\""), 14, "task = \"text\"");
  text.replace(text.find("warmup = [0, 10]"), 16, "source = [\"one\", \"two\"]");
  const Declaration declaration = parse_declaration(text, "x.toml");
  LabRequest request;
  const auto tasks = tasks_of(declaration, request, made_up_kinds());
  ASSERT_EQ(tasks.size(), 2u);
  for (const auto& [key, task] : tasks) request.source_sha256[key] = task.source + "!";
  for (const PlannedRun& run : plan(text, request)) {
    EXPECT_EQ(run.config->source_sha256, run.config->source + "!");
  }
}

TEST(Plan, ARelativeSourceLiesBesideTheDeclaration) {
  std::string text = kTraining;
  text.replace(text.find("task = \"bible\""), 14, "task = \"text\"\nsource = \"mine.txt\"");
  const auto tasks =
      tasks_of(parse_declaration(text, "/some/where/x.toml"), LabRequest{}, made_up_kinds());
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks.begin()->first, "text mine.txt");
  EXPECT_EQ(tasks.begin()->second.source, "/some/where/mine.txt");
}

TEST(Plan, StartsAtTheFirstSeedOfTheDeclaration) {
  std::string text = kTraining;
  text.replace(text.find("seeds = 2"), 9, "seeds = 2\nfirst_seed = 5");
  const auto runs = plan(text);
  ASSERT_EQ(runs.size(), 16u);
  EXPECT_EQ(runs.front().seed, 5u);
  EXPECT_EQ(runs.front().config->seed, 5u);
  EXPECT_EQ(runs.back().seed, 6u);
}

TEST(Plan, TheSmokeTierRunsEveryArmForAFewStepsAtTheFirstOfEverything) {
  std::string text = kTraining;
  text +=
      "[tier.quick]\narms = [\"pre\"]\nlearning_rates = [3e-3, 1e-3]\nseeds = 1\n"
      "base = { steps = 50, eval_every = 2 }\naxes = { warmup = [10, 20] }\n";
  const auto runs = plan(text, request_of("smoke"));
  ASSERT_EQ(runs.size(), 6u);  // two arms, three seeds
  std::set<std::string> arms;
  for (const PlannedRun& run : runs) {
    arms.insert(run.arm);
    EXPECT_EQ(run.learning_rate, 3e-3);
    EXPECT_EQ(run.point.at("warmup"), 10);
    EXPECT_EQ(run.config->steps, 4);
    EXPECT_EQ(run.config->warmup, 1);
    EXPECT_EQ(run.config->eval_every, 2);
  }
  EXPECT_EQ(arms, (std::set<std::string>{"pre", "post"}));
}

TEST(Plan, ArmsThatDifferInTheirStepsAloneAreNoMistakeInTheSmokeTier) {
  std::string text = kTraining;
  text.replace(text.find("placement = \"post\"\ndepth = 4"), 28, "steps = 1000");
  text.replace(text.find("placement = \"pre\""), 17, "steps = 2000");
  EXPECT_EQ(plan(text, request_of("smoke")).size(), 6u);
  EXPECT_EQ(plan(text).size(), 16u);
}

TEST(LongerRun, HasFourTimesTheStepsAndAnotherName) {
  const PlannedRun run = plan(kTraining).front();
  const PlannedRun longer = longer_run(run);
  EXPECT_EQ(longer.config->steps, 4 * run.config->steps);
  EXPECT_NE(longer.job.id, run.job.id);
}

TEST(Shards, PutEveryRunInExactlyOne) {
  const auto runs = plan(kTraining, request_of("quick", 50));
  std::map<int, int> sizes;
  for (const PlannedRun& run : runs) {
    int found = 0;
    for (int shard = 1; shard <= 3; ++shard) {
      if (!is_in_shard(run.job.id, shard, 3)) continue;
      ++found;
      ++sizes[shard];
    }
    EXPECT_EQ(found, 1);
  }
  for (const auto& [shard, size] : sizes) EXPECT_GT(size, 80) << shard;  // of 400
}

}  // namespace
}  // namespace equinorm::lab
