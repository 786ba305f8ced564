// The summary of synthetic runs whose numbers are known.
#include <gtest/gtest.h>

#include <cmath>

#include "lab/experiment/results_export.hpp"
#include "lab/experiment/results_table.hpp"
#include "lab/experiment/summary.hpp"
#include "synthetic_runs.hpp"

namespace equinorm::lab {
namespace {

using testing::Ending;

/// Builds a comparison in memory, run by run.
class ComparisonBuilder {
 public:
  ComparisonBuilder(const std::string& task, std::vector<Arm> arms) : task_(task) {
    comparison_.request.tasks = {task};
    comparison_.request.settings = {testing::make_config(task, "layer", "pre", 0.1, 0)};
    comparison_.request.baseline = arms.at(0).name();
    comparison_.request.arms = std::move(arms);
  }

  void add(const std::string& norm, double learning_rate, std::uint64_t seed,
           const Ending& ending) {
    Run run;
    run.config = testing::make_config(task_, norm, "pre", learning_rate, seed);
    run.id = run_id(run.config);
    run.result.initial_loss = ending.initial_loss;
    run.result.final_loss = ending.final_loss;
    run.result.final_accuracy = ending.accuracy;
    run.result.max_grad_norm = ending.max_grad_norm;
    run.result.median_grad_norm = ending.max_grad_norm / 2;
    run.result.failure = ending.failure;
    if (ending.steps_to_target > 0) run.result.steps_to_target = ending.steps_to_target;
    run.timing.ms_per_step = ending.ms_per_step;
    run.timing.tokens_per_second = 1000;
    run.timing.time_split.norm = ending.norm_share;
    comparison_.runs.push_back(run);
  }

  void add_crash(const std::string& norm, double learning_rate, std::uint64_t seed) {
    RunError error;
    error.config = testing::make_config(task_, norm, "pre", learning_rate, seed);
    error.signal = 11;
    error.stderr_tail = "out of luck\n";
    comparison_.errors.push_back(error);
  }

  [[nodiscard]] const Comparison& comparison() const { return comparison_; }

 private:
  std::string task_;
  Comparison comparison_;
};

Ending loss(double final_loss) {
  Ending ending;
  ending.final_loss = final_loss;
  return ending;
}

Ending failed(const std::string& failure, double final_loss) {
  Ending ending = loss(final_loss);
  ending.failure = failure;
  return ending;
}

const Arm kLayer{"layer", "pre"};
const Arm kRms{"rms", "pre"};

TEST(Summarize, takes_the_rate_with_the_lowest_mean_loss_for_text) {
  ComparisonBuilder builder("bible", {kLayer});
  builder.add("layer", 0.01, 0, loss(1.0));
  builder.add("layer", 0.01, 1, loss(1.5));
  builder.add("layer", 0.001, 0, loss(1.25));
  builder.add("layer", 0.001, 1, loss(1.75));
  const Summary summary = summarize(builder.comparison());
  const ArmSummary& arm = summary.tasks.at(0).arms.at(0);
  ASSERT_TRUE(arm.best.has_value());
  EXPECT_EQ(arm.rates.at(*arm.best).learning_rate, 0.01);
  EXPECT_EQ(arm.metric.n, 2);
  EXPECT_EQ(arm.metric.mean, 1.25);
  // sensitivity: the mean of 1.25 and 1.5 less the lower of them.
  EXPECT_EQ(arm.sensitivity, 0.125);
  EXPECT_EQ(summary.tasks[0].metric, "loss");
}

TEST(Summarize, takes_the_rate_with_the_highest_accuracy_for_images) {
  ComparisonBuilder builder("fashion-mnist", {kLayer});
  Ending better;
  better.accuracy = 0.75;
  better.final_loss = 2;  // the accuracy decides
  builder.add("layer", 0.001, 0, Ending{});
  builder.add("layer", 0.003, 0, better);
  const Summary summary = summarize(builder.comparison());
  const ArmSummary& arm = summary.tasks.at(0).arms.at(0);
  EXPECT_EQ(arm.rates.at(*arm.best).learning_rate, 0.003);
  EXPECT_EQ(arm.metric.mean, 0.75);
  EXPECT_TRUE(summary.tasks[0].higher_is_better);
}

TEST(Summarize, leaves_failed_runs_out_of_the_mean_and_says_so) {
  ComparisonBuilder builder("bible", {kLayer});
  builder.add("layer", 0.01, 0, loss(1.0));
  builder.add("layer", 0.01, 1, failed("stall", 3.0));
  builder.add("layer", 0.01, 2, failed("blow-up", 9.0));
  builder.add("layer", 0.01, 3, failed("non-finite", NAN));
  builder.add_crash("layer", 0.01, 4);
  const Summary summary = summarize(builder.comparison());
  const ArmSummary& arm = summary.tasks.at(0).arms.at(0);
  EXPECT_EQ(arm.metric.n, 1);
  EXPECT_EQ(arm.metric.mean, 1.0);
  EXPECT_EQ(arm.runs_at_best, 4);
  EXPECT_EQ(arm.failures.stall, 1);
  EXPECT_EQ(arm.failures.blow_up, 1);
  EXPECT_EQ(arm.failures.non_finite, 1);
  EXPECT_EQ(arm.failures.errors, 1);
  EXPECT_EQ(arm.failures.rate.hits, 3);
  EXPECT_EQ(arm.failures.rate.n, 4);
  EXPECT_EQ(arm.failures.rate.low, estimate_proportion(3, 4).low);
}

TEST(Summarize, prefers_a_rate_without_failures_to_a_better_mean_of_survivors) {
  ComparisonBuilder builder("bible", {kLayer});
  builder.add("layer", 0.1, 0, loss(0.5));
  builder.add("layer", 0.1, 1, failed("stall", 3.0));
  builder.add("layer", 0.001, 0, loss(1.0));
  builder.add("layer", 0.001, 1, loss(1.0));
  const Summary summary = summarize(builder.comparison());
  const ArmSummary& arm = summary.tasks.at(0).arms.at(0);
  EXPECT_EQ(arm.rates.at(*arm.best).learning_rate, 0.001);
  EXPECT_EQ(arm.failures.failed(), 0);
  EXPECT_EQ(arm.failures_all_rates.failed(), 1);
  EXPECT_EQ(arm.failures_all_rates.rate.n, 4);
}

TEST(Summarize, counts_a_crash_against_a_rate) {
  ComparisonBuilder builder("bible", {kLayer});
  builder.add("layer", 0.1, 0, loss(0.5));
  builder.add_crash("layer", 0.1, 1);
  builder.add("layer", 0.001, 0, loss(1.0));
  builder.add("layer", 0.001, 1, loss(1.0));
  const Summary summary = summarize(builder.comparison());
  const ArmSummary& arm = summary.tasks.at(0).arms.at(0);
  EXPECT_EQ(arm.rates.at(*arm.best).learning_rate, 0.001);
}

TEST(Summarize, caps_failed_runs_at_their_initial_loss_in_the_sensitivity) {
  ComparisonBuilder builder("bible", {kLayer});
  builder.add("layer", 0.001, 0, loss(1.0));
  builder.add("layer", 0.01, 0, failed("non-finite", NAN));  // counts as 2.5
  builder.add("layer", 0.1, 0, failed("blow-up", 50.0));     // counts as 2.5
  const Summary summary = summarize(builder.comparison());
  const ArmSummary& arm = summary.tasks.at(0).arms.at(0);
  EXPECT_EQ(arm.sensitivity, 2.0 - 1.0);
  EXPECT_EQ(arm.metric.mean, 1.0);
}

TEST(Summarize, a_single_rate_has_no_sensitivity) {
  ComparisonBuilder builder("bible", {kLayer});
  builder.add("layer", 0.001, 0, loss(1.0));
  const Summary summary = summarize(builder.comparison());
  EXPECT_FALSE(summary.tasks.at(0).arms.at(0).sensitivity.has_value());
}

TEST(Summarize, an_arm_that_always_fails_has_no_metric_but_its_failures) {
  ComparisonBuilder builder("bible", {kLayer, kRms});
  builder.add("layer", 0.001, 0, loss(1.0));
  builder.add("rms", 0.001, 0, failed("stall", 3.0));
  const Summary summary = summarize(builder.comparison());
  const ArmSummary& arm = summary.tasks.at(0).arms.at(1);
  EXPECT_EQ(arm.metric.n, 0);
  EXPECT_TRUE(std::isnan(arm.metric.mean));
  EXPECT_EQ(arm.failures.failed(), 1);
  EXPECT_EQ(summary.tasks[0].differences.at(0).difference.n, 0);
  EXPECT_FALSE(summary.tasks[0].differences[0].found());
  EXPECT_NE(render_tables(summary).find("no pair of runs to compare"), std::string::npos);
}

TEST(Summarize, an_arm_without_a_finished_run_is_kept_empty) {
  ComparisonBuilder builder("bible", {kLayer, kRms});
  builder.add("layer", 0.001, 0, loss(1.0));
  builder.add_crash("rms", 0.001, 0);
  const Summary summary = summarize(builder.comparison());
  const ArmSummary& arm = summary.tasks.at(0).arms.at(1);
  EXPECT_FALSE(arm.best.has_value());
  EXPECT_EQ(arm.failures_all_rates.errors, 1);
  EXPECT_NE(render_tables(summary).find("0/0; 1 crashed"), std::string::npos);
  EXPECT_NE(render_tables(summary).find("steps to 0.75 nats"), std::string::npos);
}

TEST(Summarize, takes_medians_and_extremes_at_the_best_rate) {
  ComparisonBuilder builder("bible", {kLayer});
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Ending ending = loss(1.0);
    ending.ms_per_step = 1 + static_cast<double>(seed * seed);                  // 1, 2, 5
    ending.max_grad_norm = 4 + static_cast<double>(seed);                       // 4, 5, 6
    ending.norm_share = 0.125 * static_cast<double>(seed);                      // 0, 1/8, 1/4
    ending.steps_to_target = seed == 1 ? 0 : 50 + 50 * static_cast<int>(seed);  // 50, -, 150
    builder.add("layer", 0.001, seed, ending);
  }
  const Summary summary = summarize(builder.comparison());
  const ArmSummary& arm = summary.tasks.at(0).arms.at(0);
  EXPECT_EQ(arm.ms_per_step, 2);
  EXPECT_EQ(arm.max_grad_norm, 6);
  EXPECT_EQ(arm.median_grad_norm, 2.5);
  EXPECT_NEAR(arm.split.norm, 0.125, 2 * 2.220446049250313e-16);  // a sum of three rounded thirds
  EXPECT_EQ(arm.steps_to_target, 100);
  EXPECT_EQ(arm.reached_target, 2);
  EXPECT_EQ(arm.runs_at_best, 3);
}

TEST(Differences, pair_seeds_and_skip_those_that_failed_in_either_arm) {
  ComparisonBuilder builder("bible", {kLayer, kRms});
  builder.add("layer", 0.001, 0, loss(1.0));
  builder.add("layer", 0.001, 1, loss(2.0));
  builder.add("layer", 0.001, 2, failed("stall", 3.0));
  builder.add("layer", 0.001, 3, loss(4.0));
  builder.add("rms", 0.001, 3, loss(4.5));  // in another order
  builder.add("rms", 0.001, 0, loss(1.25));
  builder.add("rms", 0.001, 1, failed("stall", 3.0));
  builder.add("rms", 0.001, 2, loss(1.0));
  const Summary summary = summarize(builder.comparison());
  const PairedDifference& pair = summary.tasks.at(0).differences.at(0);
  EXPECT_EQ(pair.arm, kRms);
  EXPECT_EQ(pair.baseline, "layer-pre");
  EXPECT_EQ(pair.difference.n, 2);
  EXPECT_EQ(pair.difference.mean, 0.375);  // of 0.25 and 0.5
}

TEST(Differences, name_no_winner_when_the_interval_covers_zero) {
  ComparisonBuilder builder("bible", {kLayer, kRms});
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    builder.add("layer", 0.001, seed, loss(1.0));
    builder.add("rms", 0.001, seed, loss(seed == 2 ? 1.25 : 0.875));
  }
  const Summary summary = summarize(builder.comparison());
  EXPECT_FALSE(summary.tasks.at(0).differences.at(0).found());
  // Differences -0.125, -0.125, 0.25: sd 0.2165, times t.ppf(.975, 2) / sqrt(3) = 2.4841 is 0.5378.
  EXPECT_NE(render_tables(summary).find("no difference found (+0.0000 +- 0.5378)"),
            std::string::npos);
}

TEST(Differences, are_given_with_sign_and_interval_when_found) {
  ComparisonBuilder builder("bible", {kLayer, kRms});
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    builder.add("layer", 0.001, seed, loss(1.0));
    builder.add("rms", 0.001, seed, loss(1.5));
  }
  const Summary summary = summarize(builder.comparison());
  EXPECT_TRUE(summary.tasks.at(0).differences.at(0).found());
  EXPECT_NE(render_tables(summary).find("+0.5000 +- 0.0000"), std::string::npos);
}

TEST(DescribeDifference, needs_three_seeds_even_where_two_agree_to_the_last_digit) {
  EXPECT_EQ(describe_difference(estimate_mean(std::vector<double>{0.015}), 100, 1),
            "+1.5, but a finding needs 3 seeds and this has 1");
  EXPECT_EQ(describe_difference(estimate_mean(std::vector<double>{0.015, 0.015}), 100, 1),
            "+1.5, but a finding needs 3 seeds and this has 2");
  EXPECT_EQ(describe_difference({}, 100, 1), "no pair of runs to compare");
}

TEST(DescribeFailures, names_kinds_interval_and_crashes) {
  FailureCounts counts;
  counts.rate = estimate_proportion(0, 6);
  EXPECT_EQ(describe_failures(counts), "0/6");
  counts.stall = 2;
  counts.blow_up = 1;
  counts.errors = 1;
  counts.rate = estimate_proportion(3, 6);
  // proportion_ci(3, 6, .95, 'wilson') = (0.18761, 0.81239)
  EXPECT_EQ(describe_failures(counts), "3/6 [19-81 %]: 2 stall, 1 blow-up; 1 crashed");
}

TEST(ExportSummary, writes_null_for_what_does_not_exist) {
  ComparisonBuilder builder("bible", {kLayer, kRms});
  builder.add("layer", 0.001, 0, loss(1.0));
  builder.add_crash("rms", 0.001, 0);
  const nlohmann::json json = export_summary(builder.comparison(), summarize(builder.comparison()));
  const nlohmann::json& arm = json.at("tasks").at(0).at("arms").at(0);
  EXPECT_EQ(arm.at("metric").at("mean"), 1.0);
  EXPECT_TRUE(arm.at("metric").at("half_width").is_null());
  EXPECT_TRUE(arm.at("sensitivity").is_null());
  EXPECT_EQ(json.at("crashed").at(0).at("signal"), 11);
  EXPECT_FALSE(json.at("tasks").at(0).at("differences").at(0).at("found").get<bool>());
}

TEST(ExportCsv, has_as_many_cells_in_every_line_as_in_the_header) {
  ComparisonBuilder builder("bible", {kLayer, kRms});
  builder.add("layer", 0.001, 0, failed("non-finite", NAN));
  builder.add_crash("rms", 0.001, 0);
  Comparison comparison = builder.comparison();
  comparison.unfinished = {"bible-some-run"};
  std::istringstream lines(export_csv(comparison));
  std::vector<std::string> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(line);
  ASSERT_EQ(rows.size(), 4u);
  for (const std::string& row : rows) {
    EXPECT_EQ(std::count(row.begin(), row.end(), ','),
              std::count(rows[0].begin(), rows[0].end(), ','))
        << row;
  }
  EXPECT_NE(rows[1].find(",finished,bible,layer,pre,0.001,0,"), std::string::npos);
  EXPECT_NE(rows[1].find(",non-finite,"), std::string::npos);
  EXPECT_EQ(rows[1].find("nan"), std::string::npos);
  EXPECT_NE(rows[2].find(",crashed,"), std::string::npos);
  EXPECT_NE(rows[3].find(",unfinished,"), std::string::npos);
}

TEST(RenderErrors, shows_how_a_run_ended_and_what_it_said) {
  ComparisonBuilder builder("bible", {kLayer});
  builder.add_crash("layer", 0.001, 0);
  const std::string text = render_errors(builder.comparison());
  EXPECT_NE(text.find("signal 11"), std::string::npos);
  EXPECT_NE(text.find("out of luck"), std::string::npos);
}

}  // namespace
}  // namespace equinorm::lab
