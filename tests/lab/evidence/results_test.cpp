// From run directories to numbers per seed: failures, best rates, longer runs.
#include "lab/evidence/results.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../experiment/synthetic_runs.hpp"
#include "lab/evidence/finding.hpp"
#include "lab/evidence/lab_results.hpp"
#include "lab/evidence/verdict.hpp"
#include "made_up.hpp"

namespace equinorm::lab {
namespace {

using testing::Ending;
using testing::made_up_kinds;

const std::string kTraining = R"(id = "T"
title = "t"
question = "q"
metric = "loss"
learning_rates = [1e-3, 1e-2]
seeds = 3
[base]
task = "bible"
steps = 2
eval_every = 2
[[arm]]
name = "pre"
placement = "pre"
[[arm]]
name = "post"
placement = "post"
)";

class Training : public ::testing::Test {
 protected:
  Training()
      : declaration_(parse_declaration(kTraining, "T.toml")),
        plan_(plan_experiment(declaration_, {}, made_up_kinds())) {}

  template <class End>
  void write(End&& end) {
    for (const PlannedRun& run : plan_) {
      testing::write_run(folder_.path(), *run.config, end(run));
    }
  }

  ExperimentResults gather() {
    longer_ = plan_longer_runs(plan_, store_);
    return gather_results(declaration_, "quick", plan_, longer_, store_);
  }

  TemporaryDirectory folder_;
  Declaration declaration_;
  std::vector<PlannedRun> plan_;
  std::vector<PlannedRun> longer_;
  RecordStore store_{folder_.path()};
};

Ending ending(double loss, const std::string& failure = "") {
  Ending end;
  end.final_loss = loss;
  end.failure = failure;
  return end;
}

TEST_F(Training, JudgesEachArmAtItsOwnBestRate) {
  write([](const PlannedRun& run) {
    const bool good = (run.arm == "pre") == (run.learning_rate == 1e-3);
    return ending((good ? 1 : 2) + 0.01 * static_cast<double>(run.seed));
  });
  const ExperimentResults results = gather();
  EXPECT_EQ(results.done, 12);
  EXPECT_EQ(results.find("pre", {})->at_best()->learning_rate, 1e-3);
  EXPECT_EQ(results.find("post", {})->at_best()->learning_rate, 1e-2);
  EXPECT_NEAR(finding_of({results.find("post", {})}, "loss").mean, 1.01, 1e-12);
}

TEST_F(Training, CanChooseTheRateByAnotherMetricThanIsJudged) {
  std::string text = kTraining;
  text.replace(text.find("metric = \"loss\""), 15, "metric = \"max_grad_norm\"");
  declaration_ = parse_declaration("best_rate_by = \"loss\"\n" + text, "T.toml");
  write([](const PlannedRun& run) {
    const bool good = run.learning_rate == 1e-2;
    Ending end = ending(good ? 1 : 2);
    end.max_grad_norm = good ? 9 : 3;
    return end;
  });
  const ExperimentResults results = gather();
  const Cell& pre = *results.find("pre", {});
  EXPECT_EQ(pre.at_best()->learning_rate, 1e-2);
  EXPECT_EQ(finding_of({&pre}, "max_grad_norm").mean, 9);
}

TEST_F(Training, FailedRunsHaveNoPartInMeansAndRatesWithFewerAreBetter) {
  write([](const PlannedRun& run) {
    const bool fails = run.arm == "pre" && run.learning_rate == 1e-2 && run.seed == 0;
    return fails ? ending(9, "blow-up") : ending(run.learning_rate == 1e-2 ? 1 : 2);
  });
  const ExperimentResults results = gather();
  const Cell& pre = *results.find("pre", {});
  EXPECT_EQ(pre.at_best()->learning_rate, 1e-3);
  EXPECT_EQ(finding_of({&pre}, "loss").n, 3);
  EXPECT_NEAR(finding_of({&pre}, "failed").mean, 1.0 / 6, 1e-12);
  EXPECT_EQ(finding_of({&pre}, "cannot_train").mean, 0);
}

TEST_F(Training, SensitivityAndBestRateAreTakenSeedBySeed) {
  write([](const PlannedRun& run) {
    return ending(run.learning_rate == 1e-2 ? 1.0 : 1.0 + static_cast<double>(run.seed));
  });
  const ExperimentResults results = gather();
  const Cell& cell = *results.find("pre", {});
  const BySeed sensitivity = metric_by_seed(cell, "sensitivity");
  EXPECT_NEAR(sensitivity.at(1), 0.5, 1e-12);
  EXPECT_NEAR(sensitivity.at(2), 0.75, 1e-12);  // capped at the initial loss, 2.5
  EXPECT_NEAR(metric_by_seed(cell, "best_learning_rate").at(1), -2, 1e-12);
}

TEST_F(Training, RatesThatAllFailAreNotCalledRobust) {
  write([](const PlannedRun&) { return ending(2.4, "stall"); });
  const ExperimentResults results = gather();
  EXPECT_TRUE(metric_by_seed(*results.find("pre", {}), "sensitivity").empty());
  EXPECT_TRUE(metric_by_seed(*results.find("pre", {}), "best_learning_rate").empty());
}

TEST_F(Training, OfARunThatBlewUpWhatWasMeasuredBeforeCounts) {
  write([](const PlannedRun&) { return ending(9, "blow-up"); });
  const ExperimentResults results = gather();
  EXPECT_EQ(finding_of({results.find("pre", {})}, "max_grad_norm").n, 3);
  EXPECT_EQ(finding_of({results.find("pre", {})}, "loss").n, 0);
}

TEST_F(Training, OfARunThatStalledItsEndCounts) {
  write([](const PlannedRun&) { return ending(2.4, "stall"); });
  const ExperimentResults results = gather();
  EXPECT_NEAR(finding_of({results.find("pre", {})}, "loss").mean, 2.4, 1e-12);
  EXPECT_EQ(finding_of({results.find("pre", {})}, "failed").mean, 1);
}

TEST_F(Training, RatesAreOrderedByFailuresThenByThoseThatBroke) {
  write([](const PlannedRun& run) {
    if (run.learning_rate == 1e-3) return ending(2.4, "stall");
    return run.arm == "post" || run.seed == 0 ? ending(9, "blow-up") : ending(2.45);
  });
  const ExperimentResults results = gather();
  EXPECT_EQ(results.find("pre", {})->at_best()->learning_rate, 1e-2);   // 1 of 3 failed, not 3
  EXPECT_EQ(results.find("post", {})->at_best()->learning_rate, 1e-3);  // 3 stalls, not 3 blow-ups
}

TEST_F(Training, WhatIsUnknownBeforeTheLongerRunIsNotCalledUntrainable) {
  write([](const PlannedRun&) { return ending(2.4, "stall"); });
  const ExperimentResults results = gather();
  EXPECT_TRUE(metric_by_seed(*results.find("pre", {}), "cannot_train").empty());
  for (const PlannedRun& run : longer_) {
    const std::string id = testing::write_run(folder_.path(), *run.config,
                                              run.seed == 0 ? ending(1) : ending(2.4, "stall"));
    write_atomically(folder_.path() / "runs" / id / "metrics.jsonl",
                     testing::metrics_text(8, [](int) { return 2.0; }));
  }
  RecordStore fresh{folder_.path()};
  const ExperimentResults later = gather_results(declaration_, "quick", plan_, longer_, fresh);
  const BySeed known = metric_by_seed(*later.find("pre", {}), "cannot_train");
  EXPECT_EQ(known, (BySeed{{0, 0}, {1, 1}, {2, 1}}));
}

TEST_F(Training, SharesOfFailedRunsHaveScoreIntervals) {
  write([](const PlannedRun& run) {
    return run.arm == "post" ? ending(9, "blow-up")
                             : ending(1 + 0.1 * static_cast<double>(run.seed));
  });
  VerdictRule rule;
  rule.metric = "failed";
  rule.compare = {"pre", "post"};
  rule.lower = true;
  const ExperimentResults results = gather();
  const Verdict fewer = judge(rule, results);  // 0 of 6 against 6 of 6
  EXPECT_EQ(fewer.outcome, Outcome::reproduced);
  EXPECT_EQ(fewer.number, "-100 points (-100 to -45)");
  rule.kind = RuleKind::value;
  rule.require = {{"pre", "failed", {}, std::nullopt, 0.5, true}};
  const Verdict value = judge(rule, results);
  EXPECT_EQ(value.number, "pre 0 of 6 (0 % to 39 %)");
  EXPECT_EQ(value.outcome, Outcome::reproduced);
  const Finding shown = finding_of({results.find("pre", {})}, "failed");
  EXPECT_EQ(shown.text, "0 of 6 (0 % to 39 %)");
  EXPECT_EQ(shown.low, 0);
  EXPECT_NEAR(shown.high, 0.3903, 1e-4);
  EXPECT_EQ(shown.n, 3);
}

VerdictRule pre_below_post() {
  VerdictRule rule;
  rule.kind = RuleKind::difference;
  rule.metric = "loss";
  rule.compare = {"pre", "post"};
  rule.lower = true;
  return rule;
}

TEST_F(Training, AnArmThatStallsIsComparedWithOneThatTrains) {
  write([](const PlannedRun& run) {
    const double seed = static_cast<double>(run.seed);
    return run.arm == "post" ? ending(2.4 + 0.01 * seed, "stall") : ending(1.4 + 0.02 * seed);
  });
  const Verdict verdict = judge(pre_below_post(), gather());
  EXPECT_EQ(verdict.outcome, Outcome::reproduced);
  EXPECT_EQ(verdict.n, 3);
  EXPECT_NE(verdict.detail.find("; post: 3 of 3 runs stalled"), std::string::npos)
      << verdict.detail;
  EXPECT_EQ(verdict.detail.find("pre:"), std::string::npos) << verdict.detail;
}

TEST_F(Training, SeedsThatStallInBothArmsSayNothing) {
  write([](const PlannedRun& run) {
    const double loss = (run.arm == "post" ? 2.4 : 2.3) + 0.01 * static_cast<double>(run.seed);
    return ending(loss, run.arm == "post" || run.seed == 1 ? "stall" : "");
  });
  const Verdict verdict = judge(pre_below_post(), gather());
  EXPECT_EQ(verdict.outcome, Outcome::not_measurable);
  EXPECT_EQ(verdict.n, 2);
}

TEST_F(Training, AStallAtEveryRateIsRunAgainFourTimesAsLong) {
  write([](const PlannedRun& run) {
    if (run.arm == "pre") return ending(1);
    return ending(run.learning_rate == 1e-2 ? 2.4 : 2.45, "stall");
  });
  const ExperimentResults results = gather();
  ASSERT_EQ(longer_.size(), 3u);  // one per seed of post
  EXPECT_EQ(longer_[0].learning_rate, 1e-2);
  EXPECT_EQ(longer_[0].config->steps, 8);
  EXPECT_EQ(results.planned, 15);
  EXPECT_EQ(results.done, 12);
  EXPECT_EQ(finding_of({results.find("post", {})}, "cannot_train").n, 0);  // not known yet
  EXPECT_EQ(finding_of({results.find("pre", {})}, "cannot_train").mean, 0);
}

TEST_F(Training, AStallAtOneRateOnlyIsNot) {
  write([](const PlannedRun& run) {
    return run.learning_rate == 1e-2 ? ending(2.4, "stall") : ending(1);
  });
  gather();
  EXPECT_TRUE(longer_.empty());
}

TEST_F(Training, AShortenedRunIsNoStallButCanFailOtherwise) {
  LabRequest request;
  request.tier = "smoke";
  plan_ = plan_experiment(declaration_, request, made_up_kinds());
  write([](const PlannedRun& run) { return ending(2.4, run.arm == "pre" ? "stall" : "blow-up"); });
  const ExperimentResults results = gather();
  EXPECT_TRUE(longer_.empty());
  EXPECT_EQ(finding_of({results.find("pre", {})}, "loss").n, 3);
  EXPECT_EQ(finding_of({results.find("pre", {})}, "failed").mean, 0);
  EXPECT_EQ(finding_of({results.find("post", {})}, "failed").mean, 1);
}

TEST_F(Training, RunsThatAreMissingOrCrashedAreCounted) {
  const ExperimentResults empty = gather();
  EXPECT_EQ(empty.planned, 12);
  EXPECT_EQ(empty.done, 0);
  const std::filesystem::path dir = folder_.path() / "runs" / plan_[0].job.id;
  make_directories(dir);
  write_atomically(dir / "error.json", "{\"exit_code\": 1, \"signal\": null, \"stderr\": \"\"}");
  EXPECT_EQ(gather().crashed, 1);
}

TEST_F(Training, ADamagedRunCountsAsMissingAndIsNamedWithItsFile) {
  write([](const PlannedRun&) { return ending(1); });
  const std::pair<const char*, const char*> damages[] = {
      {"result.json", "{\"final_loss\": 1.0,"}, {"result.json", "[]"},
      {"config.json", "\xff\x00garbage"},       {"timing.json", "{}"},
      {"metrics.jsonl", "{\"event\": \"tra"},   {"metrics.jsonl", ""}};
  int i = 0;
  for (const auto& [file, text] : damages) {
    write_atomically(folder_.path() / "runs" / plan_[i++].job.id / file, text);
  }
  const ExperimentResults results = gather();
  EXPECT_EQ(results.done, 6);
  EXPECT_EQ(results.crashed, 0);
  ASSERT_EQ(store_.damaged().size(), 6U);
  i = 0;
  for (const auto& [file, text] : damages) {
    const PlannedRun& run = plan_[i++];
    const std::string& complaint = store_.damaged().at(run.job.id);
    EXPECT_NE(complaint.find(run.job.id + "/" + file), std::string::npos) << complaint;
    EXPECT_EQ(complaint.find("[json"), std::string::npos) << complaint;
  }
}

TEST_F(Training, AFinishedRunIsTheJobsOnlyWithItsVeryConfig) {
  write([](const PlannedRun&) { return ending(1); });
  const std::filesystem::path dir = folder_.path() / "runs" / plan_[0].job.id;
  EXPECT_TRUE(is_finished_job(plan_[0].job, dir));
  EXPECT_FALSE(is_finished_job(plan_[1].job, dir));
  write_atomically(dir / "metrics.jsonl", "");
  EXPECT_FALSE(is_finished_job(plan_[0].job, dir));
}

TEST(Folder, LeavesOutMachinesWhoseRecordIsDamagedAndNamesTheFile) {
  const TemporaryDirectory folder;
  store_environment(folder.path(), {{"cpu", "three"}});
  write_atomically(folder.path() / "environments" / "a.json", "{\"cpu\": 3}");
  write_atomically(folder.path() / "environments" / "b.json", "{\"cpu");
  const Environments found = load_environments(folder.path());
  ASSERT_EQ(found.all.size(), 1U);
  EXPECT_EQ(found.all[0].at("cpu"), "three");
  ASSERT_EQ(found.damaged.size(), 2U);
  EXPECT_NE(found.damaged[0].find("a.json: "), std::string::npos) << found.damaged[0];
  EXPECT_NE(found.damaged[1].find("b.json: "), std::string::npos) << found.damaged[1];
}

TEST(Folder, IsCheckedButForWhatIsRunAnew) {
  const TemporaryDirectory folder;
  make_directories(folder.path() / "experiments");
  write_atomically(folder.path() / "experiments" / "M1.toml", "id = 3");
  write_atomically(folder.path() / "experiments" / "M1.json", "{}");
  const RunKinds kinds = testing::made_up_kinds();
  EXPECT_NO_THROW(check_stored(folder.path(), kinds, {"M1"}));
  EXPECT_THROW(check_stored(folder.path(), kinds, {}), InputError);
}

}  // namespace
}  // namespace equinorm::lab
