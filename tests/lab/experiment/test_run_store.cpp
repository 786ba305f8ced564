#include <gtest/gtest.h>

#include <cmath>

#include "lab/error.hpp"
#include "lab/experiment/run_store.hpp"
#include "synthetic_runs.hpp"

namespace equinorm::lab {
namespace {

using testing::Ending;

std::string error_of(const std::filesystem::path& run_dir) {
  try {
    static_cast<void>(load_run(run_dir));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(LoadRun, reads_every_event_of_a_run_directory) {
  const TemporaryDirectory out;
  const RunConfig config = testing::make_config("fashion-mnist", "rms", "post", 0.003, 7);
  Ending ending;
  ending.steps_to_target = 40;
  const std::string id = testing::write_run(out.path(), config, ending);
  const lab::Run run = load_run(out.path() / "runs" / id);
  EXPECT_EQ(run.id, id);
  EXPECT_EQ(run.config.norm, "rms");
  EXPECT_EQ(run.config.seed, 7u);
  EXPECT_EQ(run.result.steps_to_target, 40);
  EXPECT_EQ(run.result.final_accuracy, 0.5);
  EXPECT_EQ(run.result.failure, "");
  EXPECT_EQ(run.timing.time_split.norm, 0.25);
  EXPECT_EQ(run.timing.eval_seconds, std::vector<double>{0.5});
  EXPECT_FALSE(run.timing.seconds_to_target.has_value());
  ASSERT_EQ(run.train.size(), 2u);
  EXPECT_EQ(run.train[0].grad_norm, 3.5);
  EXPECT_TRUE(run.train[0].clipped);
  EXPECT_TRUE(std::isnan(run.train[1].loss));
  ASSERT_EQ(run.evals.size(), 2u);
  EXPECT_EQ(run.evals[0].accuracy, 0.1);
  EXPECT_FALSE(run.evals[1].accuracy.has_value());
  ASSERT_EQ(run.layers.size(), 1u);
  EXPECT_EQ(run.layers[0].head_grad_norm, 2.0);
  EXPECT_TRUE(std::isnan(run.layers[0].final_norm_grad_norm));
  EXPECT_EQ(run.layers[0].layers.at(0).fc2, 0.75);
  EXPECT_TRUE(std::isnan(run.layers[0].layers.at(0).gamma));
  EXPECT_EQ(run.layers[0].activation_max, std::vector<double>{4.5});
}

TEST(LoadRun, reads_a_loss_that_is_not_finite_as_nan) {
  const TemporaryDirectory out;
  Ending ending;
  ending.final_loss = NAN;
  ending.failure = "non-finite";
  const std::string id =
      testing::write_run(out.path(), testing::make_config("bible", "none", "pre", 0.1, 0), ending);
  const lab::Run run = load_run(out.path() / "runs" / id);
  EXPECT_TRUE(std::isnan(run.result.final_loss));
  EXPECT_EQ(run.result.failure, "non-finite");
}

class DamagedRun : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = out_.path() / "runs" /
           testing::write_run(out_.path(), testing::make_config("bible", "rms", "pre", 0.1, 0), {});
  }
  TemporaryDirectory out_;
  std::filesystem::path dir_;
};

TEST_F(DamagedRun, without_a_result_names_the_missing_file) {
  std::filesystem::remove(dir_ / "result.json");
  EXPECT_FALSE(is_finished(dir_));
  EXPECT_NE(error_of(dir_).find("result.json"), std::string::npos);
}

TEST_F(DamagedRun, with_a_cut_metrics_line_names_file_and_line) {
  write_atomically(dir_ / "metrics.jsonl",
                   "{\"event\":\"eval\",\"step\":0,\"loss\":1,\"accuracy\":null}\n{\"event\":\"tr");
  EXPECT_NE(error_of(dir_).find("metrics.jsonl:2"), std::string::npos);
}

TEST_F(DamagedRun, with_metrics_that_end_early_says_how_much_is_there) {
  std::string metrics = testing::metrics_text();
  metrics.erase(metrics.rfind('\n', metrics.size() - 2) + 1);
  write_atomically(dir_ / "metrics.jsonl", metrics);
  EXPECT_NE(error_of(dir_).find("metrics.jsonl: incomplete: 1 of 2 evaluations"),
            std::string::npos);
  metrics.erase(metrics.find('\n') + 1);
  write_atomically(dir_ / "metrics.jsonl", metrics);
  EXPECT_NE(error_of(dir_).find("metrics.jsonl: incomplete: 0 of 2 training steps"),
            std::string::npos);
}

TEST(LoadRun, takes_a_run_that_stopped_early_because_it_was_not_finite) {
  const TemporaryDirectory out;
  RunConfig config = testing::make_config("bible", "none", "pre", 0.1, 0);
  config.steps = 100;
  Ending ending;
  ending.failure = "non-finite";
  const auto dir = out.path() / "runs" / testing::write_run(out.path(), config, ending);
  EXPECT_EQ(load_run(dir).train.size(), 2u);  // stopped by the evaluation behind step 2
  nlohmann::json result = testing::result_json(ending);
  result["steps_done"] = 1;  // stopped in step 2, before its evaluation
  write_atomically(dir / "result.json", result.dump());
  std::string metrics = testing::metrics_text();
  metrics.erase(metrics.rfind('\n', metrics.size() - 2) + 1);
  write_atomically(dir / "metrics.jsonl", metrics);
  EXPECT_EQ(load_run(dir).evals.size(), 1u);
}

TEST_F(DamagedRun, with_an_unknown_failure_says_what_is_allowed) {
  nlohmann::json result = testing::result_json({});
  result["failure"] = "tired";
  write_atomically(dir_ / "result.json", result.dump());
  EXPECT_NE(error_of(dir_).find("'tired'"), std::string::npos);
}

TEST_F(DamagedRun, with_a_missing_field_names_it) {
  nlohmann::json timing = testing::timing_json({});
  timing.erase("ms_per_step");
  write_atomically(dir_ / "timing.json", timing.dump());
  EXPECT_NE(error_of(dir_).find("ms_per_step"), std::string::npos);
}

TEST(LoadComparison, tells_finished_crashed_and_unfinished_runs_apart) {
  const TemporaryDirectory out;
  const RunConfig crashed = testing::make_config("bible", "rms", "pre", 0.1, 1);
  const RunConfig started = testing::make_config("bible", "rms", "pre", 0.1, 2);
  CompareRequest request;
  request.command = "equinorm compare --task bible";
  request.tasks = {"bible"};
  request.arms = {{"rms", "pre"}};
  request.learning_rates = {0.1};
  request.seeds = {0, 1, 2};
  request.settings = {started};
  request.baseline = "rms-pre";
  request.environment = {{"machine.cpu", "test"}};
  request.run_ids = {
      testing::write_run(out.path(), testing::make_config("bible", "rms", "pre", 0.1, 0), {}),
      testing::write_run(out.path(), crashed, {}), testing::write_run(out.path(), started, {})};
  // A run of another comparison in the same folder has no part in this one.
  testing::write_run(out.path(), testing::make_config("bible", "rms", "pre", 0.1, 3), {});
  std::filesystem::remove(out.path() / "runs" / request.run_ids[1] / "result.json");
  write_atomically(out.path() / "runs" / request.run_ids[1] / "error.json",
                   R"({"exit_code":null,"signal":11,"stderr":"boom"})");
  std::filesystem::remove(out.path() / "runs" / request.run_ids[2] / "result.json");
  save_request(out.path(), request);

  const Comparison comparison = load_comparison(out.path());
  ASSERT_EQ(comparison.runs.size(), 1u);
  EXPECT_EQ(comparison.runs[0].id, request.run_ids[0]);
  ASSERT_EQ(comparison.errors.size(), 1u);
  EXPECT_EQ(comparison.errors[0].signal, 11);
  EXPECT_FALSE(comparison.errors[0].exit_code.has_value());
  EXPECT_EQ(comparison.errors[0].stderr_tail, "boom");
  const RunError unrecorded{{request.run_ids[2], 3, std::nullopt, "disk full"}, started};
  const Comparison told = load_comparison(out.path(), {unrecorded});
  ASSERT_EQ(told.errors.size(), 2u);
  EXPECT_EQ(told.errors[1].stderr_tail, "disk full");
  EXPECT_TRUE(told.unfinished.empty());
  EXPECT_EQ(comparison.unfinished, std::vector<std::string>{request.run_ids[2]});
  EXPECT_EQ(comparison.request.command, request.command);
  EXPECT_EQ(comparison.request.arms, request.arms);
  EXPECT_EQ(comparison.request.seeds, request.seeds);
  EXPECT_EQ(comparison.request.environment, request.environment);
  EXPECT_EQ(comparison.request.settings.at(0).seed, 2u);
}

TEST(LoadComparison, without_compare_json_names_the_file) {
  const TemporaryDirectory out;
  try {
    static_cast<void>(load_comparison(out.path()));
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("compare.json"), std::string::npos);
  }
}

}  // namespace
}  // namespace equinorm::lab
