// Whole runs: their files, their reproducibility, their failures, stopping.
#include "lab/train.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "lab/error.hpp"
#include "lab/models/norm_names.hpp"
#include "lab/models/placement.hpp"
#include "lab/run_config_json.hpp"
#include "tiny_run.hpp"

namespace {
std::vector<std::string> synced_files;  // in the order of the calls
}

// Takes the place of the C library's in this program, so that a test sees what is synced.
extern "C" int fsync(int fd) {
  std::error_code ignored;
  const auto link = "/proc/self/fd/" + std::to_string(fd);
  synced_files.push_back(std::filesystem::read_symlink(link, ignored).string());
  return static_cast<int>(syscall(SYS_fsync, fd));
}

namespace equinorm::lab {
namespace {

using testing::HasSubstr;

std::string metrics_of(const std::filesystem::path& run_dir) {
  return content_of(run_dir / "metrics.jsonl");
}

std::vector<int> steps_with(const std::vector<nlohmann::json>& events, const std::string& kind) {
  std::vector<int> steps;
  for (const auto& event : events) {
    if (event.at("event") == kind) steps.push_back(event.at("step"));
  }
  return steps;
}

TEST(Run, WritesEveryStepAndEvaluationAndSample) {
  const TemporaryDirectory directory;
  const auto run = directory.path() / "run";
  train(tiny_config(directory), run);
  const auto events = events_of(run);
  EXPECT_THAT(steps_with(events, "train"),
              testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
  EXPECT_THAT(steps_with(events, "eval"), testing::ElementsAre(0, 5, 10, 12));
  EXPECT_THAT(steps_with(events, "layers"), testing::ElementsAre(1, 4, 8, 12));
  const auto config = nlohmann::json::parse(content_of(run / "config.json"));
  EXPECT_EQ(config, nlohmann::json(tiny_config(directory)));
}

TEST(Run, FilesAgreeWithTheOutcome) {
  const TemporaryDirectory directory;
  const auto run = directory.path() / "run";
  const RunOutcome outcome = train(tiny_config(directory), run);
  ASSERT_TRUE(outcome.completed);
  const auto result = nlohmann::json::parse(content_of(run / "result.json"));
  EXPECT_EQ(result.at("steps_done"), 12);
  EXPECT_EQ(result.at("final_loss"), outcome.result.final_loss);
  EXPECT_EQ(result.at("final_accuracy"), *outcome.result.final_accuracy);
  EXPECT_TRUE(result.at("failure").is_null());
  double largest = 0;
  double best = INFINITY;
  for (const auto& event : events_of(run)) {
    if (event.at("event") == "train")
      largest = std::max(largest, event.at("grad_norm").get<double>());
    if (event.at("event") == "eval") best = std::min(best, event.at("loss").get<double>());
  }
  EXPECT_EQ(result.at("max_grad_norm"), largest);
  EXPECT_EQ(result.at("best_loss"), best);
  const auto timing = nlohmann::json::parse(content_of(run / "timing.json"));
  EXPECT_EQ(timing.at("eval_seconds").size(), 4U);
  EXPECT_EQ(timing.at("ms_per_step"), outcome.timing.ms_per_step);
  EXPECT_DOUBLE_EQ(outcome.timing.tokens_per_second * outcome.timing.ms_per_step / 1e3, 4.0 * 16);
}

TEST(Run, LearnsTheTinyText) {
  const TemporaryDirectory directory;
  RunConfig config = tiny_config(directory);
  config.steps = 60;
  config.target = 1.5;
  const RunOutcome outcome = train(config, directory.path() / "run");
  EXPECT_LT(outcome.result.final_loss, outcome.result.plateau / 2);
  ASSERT_TRUE(outcome.result.steps_to_target.has_value());
  for (const auto& event : events_of(directory.path() / "run")) {
    if (event.at("event") != "eval") continue;
    EXPECT_EQ(event.at("loss").get<double>() <= 1.5,
              event.at("step") >= *outcome.result.steps_to_target)
        << event;
  }
  EXPECT_GT(outcome.timing.seconds_to_target.value_or(0), 0);
}

TEST(Run, GivesTheSameBytesAgainAndBesideOthersButNotForAnotherSeed) {
  const TemporaryDirectory directory;
  for (const char* norm : {"none", "batch", "layer", "rms"}) {
    RunConfig config = tiny_config(directory);
    config.norm = norm;
    train(config, directory.path() / "first");
    RunConfig other = config;
    other.seed = 1;
    std::thread beside([&] { train(other, directory.path() / "other"); });
    train(config, directory.path() / "second");
    beside.join();
    EXPECT_EQ(metrics_of(directory.path() / "first"), metrics_of(directory.path() / "second"));
    EXPECT_NE(metrics_of(directory.path() / "first"), metrics_of(directory.path() / "other"));
  }
}

TEST(Run, HasTheSameCurveWithAndWithoutInstruments) {
  const TemporaryDirectory directory;
  RunConfig config = tiny_config(directory);
  const RunOutcome with = train(config, directory.path() / "with");
  config.instrument_every = 0;
  const RunOutcome without = train(config, directory.path() / "without");
  EXPECT_EQ(with.result.final_loss, without.result.final_loss);
  EXPECT_THAT(metrics_of(directory.path() / "without"), testing::Not(HasSubstr("layers")));
}

TEST(Run, HasItsMetricsOnDiskBeforeItsResult) {
  const TemporaryDirectory directory;
  synced_files.clear();
  train(tiny_config(directory), directory.path() / "run");
  const auto position = [](const std::string& name) {
    const auto found = std::find_if(
        synced_files.begin(), synced_files.end(),
        [&](const std::string& file) { return file.find("/run/" + name) != std::string::npos; });
    EXPECT_NE(found, synced_files.end()) << name;
    return found;
  };
  EXPECT_LT(position("metrics.jsonl"), position("result.json"));
}

TEST(Run, StopsAtTheFirstNumberThatIsNotFinite) {
  const TemporaryDirectory directory;
  RunConfig config = tiny_config(directory);
  config.norm = "none";
  config.learning_rate = 1e30;
  const RunOutcome outcome = train(config, directory.path() / "run");
  EXPECT_EQ(outcome.result.failure, "non-finite");
  EXPECT_LT(outcome.result.steps_done, config.steps);
  EXPECT_TRUE(std::isnan(outcome.result.final_loss));
  const auto result = nlohmann::json::parse(content_of(directory.path() / "run/result.json"));
  EXPECT_TRUE(result.at("final_loss").is_null());
  EXPECT_TRUE(result.at("final_accuracy").is_null());
  EXPECT_TRUE(outcome.completed);
}

TEST(Run, ThatEndsFarAboveItsFirstLossIsABlowUp) {
  const TemporaryDirectory directory;
  RunConfig config = tiny_config(directory);
  config.learning_rate = 2;
  const RunOutcome outcome = train(config, directory.path() / "run");
  EXPECT_EQ(outcome.result.failure, "blow-up");
  EXPECT_GT(outcome.result.final_loss, 2 * outcome.result.initial_loss);
}

TEST(Run, ThatLearnsNothingIsAStall) {
  const TemporaryDirectory directory;
  RunConfig config = tiny_config(directory);
  config.learning_rate = 1e-9;
  const RunOutcome outcome = train(config, directory.path() / "run");
  EXPECT_EQ(outcome.result.failure, "stall");
  EXPECT_GE(outcome.result.final_loss, outcome.result.plateau);
}

TEST(Run, ClipsTheGradientAfterItsNormWasTaken) {
  const TemporaryDirectory directory;
  RunConfig config = tiny_config(directory);
  config.clip = 1e-3;
  const RunOutcome outcome = train(config, directory.path() / "run");
  EXPECT_EQ(outcome.result.clipped_share, 1.0);
  for (const auto& event : events_of(directory.path() / "run")) {
    if (event.at("event") != "train") continue;
    EXPECT_GT(event.at("grad_norm").get<double>(), 1e-3);
    EXPECT_TRUE(event.at("clipped").get<bool>());
  }
}

TEST(Run, WarmsTheLearningRateUpInEqualSteps) {
  const TemporaryDirectory directory;
  train(tiny_config(directory), directory.path() / "run");
  std::vector<double> rates;
  for (const auto& event : events_of(directory.path() / "run")) {
    if (event.at("event") == "train") rates.push_back(event.at("learning_rate"));
  }
  EXPECT_DOUBLE_EQ(rates[0], 1e-2 / 3);
  EXPECT_DOUBLE_EQ(rates[1], 2e-2 / 3);
  EXPECT_EQ(rates[2], 1e-2);
  EXPECT_EQ(rates[11], 1e-2);
}

TEST(Run, SplitsItsTimeIntoSharesThatAddUpToOne) {
  const TemporaryDirectory directory;
  for (const int steps : {1, 3, 12}) {
    for (const char* norm : {"none", "layer"}) {
      RunConfig config = tiny_config(directory);
      config.norm = norm;
      config.steps = steps;
      config.instrument_every = 2;
      const TimeSplit split = train(config, directory.path() / "run").timing.time_split;
      const double sum = split.norm + split.attention + split.ffn + split.optimizer + split.other;
      EXPECT_NEAR(sum, 1, 4 * 0x1p-52);  // four additions of shares below 1
      EXPECT_GT(split.attention, 0);
      EXPECT_GT(split.ffn, 0);
      EXPECT_GT(split.optimizer, 0);
      EXPECT_EQ(split.norm > 0, std::string(norm) == "layer");
    }
  }
}

TEST(Run, ProfilesAdminBeforeItsFirstEvaluation) {
  const TemporaryDirectory directory;
  RunConfig config = tiny_config(directory);
  config.steps = 1;
  const auto initial_loss = [&](const std::string& placement) {
    config.placement = placement;
    return train(config, directory.path() / placement).result.initial_loss;
  };
  const double post = initial_loss("post");
  EXPECT_NE(initial_loss("admin"), post);  // the same weights, and omega would be 1
}

TEST(Run, LowersTheLossAtEveryPlacement) {
  const TemporaryDirectory directory;
  RunConfig config = tiny_config(directory);
  for (const std::string& placement : placement_names()) {
    config.placement = placement;
    const RunOutcome outcome = train(config, directory.path() / placement);
    EXPECT_EQ(outcome.result.steps_done, config.steps) << placement;
    EXPECT_TRUE(std::isfinite(outcome.result.final_loss)) << placement;
    EXPECT_LT(outcome.result.final_loss, outcome.result.initial_loss) << placement;
  }
}

TEST(Run, StoppedOnRequestLeavesNoResultAndStartsOver) {
  const TemporaryDirectory directory;
  const auto run = directory.path() / "run";
  const RunConfig config = tiny_config(directory);
  train(config, run);
  const std::string whole = metrics_of(run);
  std::atomic<bool> stop = false;
  TrainOptions options;
  options.on_step = [&](int steps_done, double loss) {
    EXPECT_TRUE(std::isfinite(loss));
    stop = steps_done == 3;
  };
  const RunOutcome outcome = train(config, run, StopToken(stop), options);
  EXPECT_FALSE(outcome.completed);
  EXPECT_EQ(outcome.result.steps_done, 3);
  EXPECT_FALSE(std::filesystem::exists(run / "result.json"));
  train(config, run);
  EXPECT_EQ(metrics_of(run), whole);
  EXPECT_TRUE(std::filesystem::exists(run / "result.json"));
}

TEST(Run, RefusesDataOtherThanConfigured) {
  const TemporaryDirectory directory;
  RunConfig config = tiny_config(directory);
  config.source_sha256 = std::string(64, '0');
  EXPECT_THAT(message_of<InputError>([&] { train(config, directory.path() / "run"); }),
              HasSubstr("changed"));
}

TEST(Run, SaysThatItsDirectoryCannotBeWritten) {
  const TemporaryDirectory directory;
  const auto file = directory.write("file", "not a directory");
  EXPECT_THAT(message_of<InputError>([&] { train(tiny_config(directory), file / "run"); }),
              HasSubstr("cannot create directory"));
}

TEST(Validate, NamesFieldValueAndRule) {
  const auto message = [](auto&& change) {
    RunConfig config;
    change(config);
    return message_of<UsageError>([&] { validate(config); });
  };
  EXPECT_EQ(message([](RunConfig& c) { c.norm = "group"; }),
            "norm = \"group\": must be one of " + joined(norm_names()));
  EXPECT_EQ(message([](RunConfig& c) { c.width = 66; }),
            "width = 66: must be a multiple of heads = 4");
  EXPECT_EQ(message([](RunConfig& c) { c.dropout = 1; }), "dropout = 1.0: must lie in [0, 1)");
  EXPECT_EQ(message([](RunConfig& c) { c.learning_rate = NAN; }),
            "learning_rate = null: must be finite and above 0");
  EXPECT_EQ(message([](RunConfig& c) { c.steps = 0; }), "steps = 0: must be at least 1");
  EXPECT_EQ(message([](RunConfig& c) { c.instrument_every = 1; }),
            "instrument_every = 1: must be 0 (off) or at least 2");
}

}  // namespace
}  // namespace equinorm::lab
