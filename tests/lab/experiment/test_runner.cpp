// The runner with a shell script in place of the training: what it starts, keeps and throws away.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <new>
#include <set>
#include <stdexcept>
#include <thread>

#include "lab/error.hpp"
#include "lab/experiment/output_lock.hpp"
#include "lab/experiment/run_plan.hpp"
#include "lab/experiment/runner.hpp"
#include "synthetic_runs.hpp"

namespace equinorm::lab {
namespace {

namespace fs = std::filesystem;

/// Runs plans of a few short runs with a script. The script sees the run directory as $1 and may
/// call `finish`, which writes a complete run.
class Runner : public ::testing::Test {
 protected:
  Runner() {
    const fs::path parts = folder_.path() / "parts";
    make_directories(parts);
    write_atomically(parts / "metrics.jsonl", testing::metrics_text());
    write_atomically(parts / "timing.json", testing::timing_json({}).dump());
    write_atomically(parts / "result.json", testing::result_json({}).dump());
    ComparePlan plan;
    plan.tasks = {testing::make_config("fashion-mnist", "layer", "pre", 0.001, 0)};
    plan.arms = plan_arms({"none", "layer"}, {"pre"});
    plan.learning_rates = {0.001};
    plan.seeds = {0, 1};
    plan_ = plan_runs(plan);
  }

  RunnerOutcome execute(const std::string& script, int jobs = 2) {
    const std::string prelude = "cd \"$1\"; echo run >> " + log().string() + "; finish() { cp " +
                                (folder_.path() / "parts").string() + "/* .; }; ";
    RunnerSettings settings;
    settings.out_dir = out();
    settings.do_run = [text = prelude + script](const fs::path& run_dir) {
      ::execl("/bin/sh", "/bin/sh", "-c", text.c_str(), "child", run_dir.c_str(), nullptr);
      return 127;
    };
    settings.jobs = jobs;
    settings.on_progress = [this](const Progress& progress) {
      most_active_ = std::max(most_active_, progress.active.size());
      for (const ActiveRun& run : progress.active) seen_steps_.insert(run.step);
      if (on_progress_) on_progress_(progress);
    };
    return execute_runs(plan_, settings, interrupts_);
  }

  [[nodiscard]] fs::path out() const { return folder_.path() / "out"; }
  [[nodiscard]] fs::path log() const { return folder_.path() / "log"; }
  [[nodiscard]] fs::path dir(std::size_t run) const { return run_directory(out(), plan_.at(run)); }

  [[nodiscard]] int started() const {
    std::ifstream in(log());
    int count = 0;
    for (std::string line; std::getline(in, line);) ++count;
    return count;
  }

  TemporaryDirectory folder_;
  std::vector<RunConfig> plan_;
  std::atomic<int> interrupts_{0};
  std::size_t most_active_ = 0;
  std::set<int> seen_steps_;
  std::function<void(const Progress&)> on_progress_;
};

TEST_F(Runner, finishes_every_run_of_the_plan) {
  const RunnerOutcome outcome = execute("finish");
  EXPECT_EQ(outcome.finished, 4);
  EXPECT_EQ(outcome.errors.size(), 0u);
  EXPECT_FALSE(outcome.interrupted);
  for (const RunConfig& config : plan_) {
    EXPECT_TRUE(is_finished_run_of(config, run_directory(out(), config)));
  }
}

TEST_F(Runner, runs_as_many_side_by_side_as_asked_for) {
  execute("sleep 0.2; finish", 3);
  EXPECT_EQ(most_active_, 3u);
}

TEST_F(Runner, skips_finished_runs_at_a_second_start) {
  execute("finish");
  const RunnerOutcome second = execute("finish");
  EXPECT_EQ(second.resumed, 4);
  EXPECT_EQ(second.finished, 0);
  EXPECT_EQ(started(), 4);
}

TEST_F(Runner, starts_a_run_without_result_over_in_an_empty_directory) {
  execute("finish");
  fs::remove(dir(1) / "result.json");
  write_atomically(dir(1) / "leftover", "x");
  const RunnerOutcome second = execute("finish");
  EXPECT_EQ(second.finished, 1);
  EXPECT_FALSE(fs::exists(dir(1) / "leftover"));
}

TEST_F(Runner, starts_a_damaged_run_over) {
  execute("finish");
  write_atomically(dir(2) / "metrics.jsonl", "{\"event\":");
  EXPECT_EQ(execute("finish").finished, 1);
}

TEST_F(Runner, starts_a_run_over_that_lost_lines_of_its_metrics) {
  execute("finish");
  const std::string whole = testing::metrics_text();
  write_atomically(dir(2) / "metrics.jsonl", whole.substr(0, whole.find('\n') + 1));
  EXPECT_EQ(execute("finish").finished, 1);
  EXPECT_EQ(read_text_file(dir(2) / "metrics.jsonl"), whole);
}

TEST_F(Runner, does_not_take_the_result_of_another_config) {
  execute("finish");
  RunConfig other = plan_.at(0);
  other.steps += 1;
  write_atomically(dir(0) / "config.json", nlohmann::json(other).dump());
  EXPECT_EQ(execute("finish").finished, 1);
}

TEST_F(Runner, makes_new_runs_when_a_setting_changes_and_keeps_the_old_ones) {
  execute("finish");
  const fs::path old = dir(0);
  for (RunConfig& config : plan_) config.depth += 1;
  const RunnerOutcome second = execute("finish");
  EXPECT_EQ(second.resumed, 0);
  EXPECT_EQ(second.finished, 4);
  EXPECT_TRUE(is_finished(old));
}

TEST_F(Runner, records_a_child_that_exits_with_an_error_and_goes_on) {
  const RunnerOutcome outcome =
      execute("case \"$1\" in *none*-s1-*) echo disk on fire >&2; exit 3;; esac; finish");
  EXPECT_EQ(outcome.finished, 3);
  EXPECT_EQ(outcome.errors.size(), 1u);
  const auto error = nlohmann::json::parse(read_text_file(dir(2) / "error.json"));
  EXPECT_EQ(error.at("exit_code"), 3);
  EXPECT_TRUE(error.at("signal").is_null());
  EXPECT_EQ(error.at("stderr"), "disk on fire\n");
}

TEST_F(Runner, keeps_the_record_of_a_crash_that_the_disk_does_not_take) {
  // A folder in the place of error.json stands for the full disk.
  const RunnerOutcome outcome = execute("mkdir error.json; echo disk full >&2; exit 3", /*jobs=*/1);
  ASSERT_EQ(outcome.errors.size(), 4u);
  EXPECT_EQ(outcome.errors[0].id, run_id(plan_.at(0)));
  EXPECT_EQ(outcome.errors[0].exit_code, 3);
  EXPECT_EQ(outcome.errors[0].stderr_tail, "disk full\n");
}

TEST_F(Runner, counts_a_run_that_cannot_be_started_as_crashed_and_goes_on) {
  make_directories(out());
  write_atomically(out() / "runs", "not a folder");
  const RunnerOutcome outcome = execute("finish");
  ASSERT_EQ(outcome.errors.size(), 4u);
  EXPECT_FALSE(outcome.errors[0].exit_code.has_value());
  EXPECT_NE(outcome.errors[0].stderr_tail.find("runs"), std::string::npos);
}

TEST_F(Runner, keeps_the_end_of_what_a_child_complained_about) {
  const RunnerOutcome outcome = execute("seq 1 5000 >&2; exit 1");
  const std::string& tail = outcome.errors.at(0).stderr_tail;
  EXPECT_EQ(tail.size(), 4000u);
  EXPECT_EQ(tail.substr(tail.size() - 10), "4999\n5000\n");
}

TEST_F(Runner, records_the_signal_that_killed_a_child) {
  const RunnerOutcome outcome = execute("kill -SEGV $$");
  EXPECT_EQ(outcome.errors.size(), 4u);
  const auto error = nlohmann::json::parse(read_text_file(dir(0) / "error.json"));
  EXPECT_EQ(error.at("signal"), SIGSEGV);
  EXPECT_TRUE(error.at("exit_code").is_null());
}

TEST_F(Runner, does_not_believe_a_child_that_exits_with_zero_but_left_no_result) {
  const RunnerOutcome outcome = execute("finish; rm timing.json");
  EXPECT_EQ(outcome.errors.size(), 4u);
  EXPECT_FALSE(is_finished(dir(0)));
}

TEST_F(Runner, tries_a_crashed_run_again_at_the_next_start) {
  execute("exit 1");
  const RunnerOutcome second = execute("finish");
  EXPECT_EQ(second.finished, 4);
  EXPECT_FALSE(fs::exists(dir(0) / "error.json"));
}

TEST_F(Runner, reads_steps_from_the_child) {
  execute("printf '7 0.5\\n'; sleep 0.3; finish");
  EXPECT_EQ(seen_steps_, (std::set<int>{0, 7}));
}

TEST_F(Runner, stops_children_and_leaves_nothing_of_them_when_interrupted) {
  on_progress_ = [this](const Progress& progress) {
    if (progress.done == 2) interrupts_ = 1;
  };
  const RunnerOutcome outcome = execute("case \"$1\" in *-s1-*) exec sleep 60;; esac; finish", 1);
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_EQ(outcome.finished, 2);
  EXPECT_EQ(outcome.errors.size(), 0u);
  EXPECT_FALSE(fs::exists(dir(2)));
  interrupts_ = 0;
  on_progress_ = nullptr;
  EXPECT_EQ(execute("finish").resumed, 2);
}

TEST_F(Runner, kills_a_child_that_does_not_listen_at_the_second_interrupt) {
  const auto start = std::chrono::steady_clock::now();
  on_progress_ = [this, start](const Progress&) {
    const auto waited = std::chrono::steady_clock::now() - start;
    if (waited > std::chrono::milliseconds(300)) interrupts_ = 1;
    if (waited > std::chrono::milliseconds(900)) interrupts_ = 2;
  };
  // The shell ignores SIGTERM and so does the sleep it starts.
  const RunnerOutcome outcome = execute("trap '' TERM; exec sleep 60");
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_EQ(outcome.errors.size(), 0u);
  EXPECT_FALSE(fs::exists(dir(0)));
}

/// What error.json says of the first run when every run does `work`.
class Child : public Runner {
 protected:
  nlohmann::json error_after(std::function<int(const fs::path&)> work) {
    RunnerSettings settings;
    settings.out_dir = out();
    settings.do_run = std::move(work);
    EXPECT_EQ(execute_runs(plan_, settings, interrupts_).errors.size(), 4u);
    return nlohmann::json::parse(read_text_file(dir(0) / "error.json"));
  }
};

TEST_F(Child, ends_with_the_exit_code_of_the_error_that_it_throws) {
  const auto error = error_after([](const fs::path&) -> int { throw InputError("no data"); });
  EXPECT_EQ(error.at("exit_code"), 3);
  EXPECT_EQ(error.at("stderr"), "no data\n");
}

TEST_F(Child, ends_with_1_after_any_other_error) {
  const auto error = error_after([](const fs::path&) -> int { throw std::logic_error("a fault"); });
  EXPECT_EQ(error.at("exit_code"), 1);
  EXPECT_EQ(error.at("stderr"), "a fault\n");
  EXPECT_EQ(error_after([](const fs::path&) -> int { throw std::bad_alloc(); }).at("stderr"),
            "not enough memory\n");
}

TEST_F(Child, holds_the_lock_of_its_parent_to_its_end) {
  make_directories(out());
  auto lock = std::make_unique<OutputLock>(out());
  bool locked = false;
  on_progress_ = [&](const Progress& progress) {
    if (progress.active.empty() || locked) return;
    lock.reset();  // as if the parent were gone
    try {
      const OutputLock second(out());
    } catch (const InputError&) {
      locked = true;
    }
  };
  execute("sleep 0.3; finish", 1);
  EXPECT_TRUE(locked);
  EXPECT_NO_THROW(OutputLock third(out()));
}

TEST_F(Child, writes_nothing_that_its_parent_has_printed) {
  std::printf("7 0.25\n");  // a progress line, if a child wrote it
  execute("finish");
  EXPECT_EQ(seen_steps_, std::set<int>{0});
}

TEST(OutputLock, is_refused_while_another_holds_it_and_free_afterwards) {
  const TemporaryDirectory folder;
  {
    const OutputLock lock(folder.path());
    try {
      const OutputLock second(folder.path());
      FAIL() << "locked twice";
    } catch (const InputError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(folder.path().string()), std::string::npos);
      EXPECT_NE(message.find(std::to_string(::getpid())), std::string::npos);
    }
  }
  const OutputLock third(folder.path());
}

TEST(OutputLock, names_the_folder_that_cannot_be_written) {
  EXPECT_THROW(OutputLock("/nonexistent/folder"), InputError);
}

}  // namespace
}  // namespace equinorm::lab
