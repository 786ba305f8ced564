// `equinorm run-one DIR`: the hidden subcommand that `equinorm compare` starts for each run. It
// trains what DIR/config.json says and reports its steps on standard output.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "command.hpp"
#include "lab/data/files.hpp"
#include "lab/experiment/interrupt.hpp"
#include "lab/run_config_json.hpp"
#include "lab/train.hpp"

namespace equinorm::cli {
namespace {

struct Options {
  std::string run_dir;
  std::string cache;
};

int train_one(const Options& options) {
  const std::string path = options.run_dir + "/config.json";
  lab::RunConfig config;
  try {
    config = nlohmann::json::parse(lab::read_text_file(path)).get<lab::RunConfig>();
  } catch (const nlohmann::json::exception& error) {
    throw InputError(path + ": " + error.what());
  }
  using Clock = std::chrono::steady_clock;
  auto last_report = Clock::now();
  lab::TrainOptions train_options;
  train_options.cache_dir = options.cache;
  train_options.on_step = [&](int steps_done, double loss) {
    const auto now = Clock::now();
    if (now - last_report < std::chrono::milliseconds(100)) return;
    last_report = now;
    std::printf("%d %.6g\n", steps_done, loss);
    std::fflush(stdout);
  };
  const lab::InterruptGuard guard;
  const lab::StopToken stop(lab::InterruptGuard::requested());
  const lab::RunOutcome outcome = lab::train(config, options.run_dir, stop, train_options);
  return outcome.completed ? kDone : kInterrupted;
}

}  // namespace

void add_run_one(CLI::App& app, int& exit_code) {
  CLI::App* sub = app.add_subcommand("run-one", "Train one run of a comparison");
  sub->group("");
  const auto options = std::make_shared<Options>();
  sub->add_option("run_dir", options->run_dir, "Run directory with a config.json")->required();
  sub->add_option("--cache", options->cache, "Cache of prepared data");
  sub->callback([options, &exit_code] { exit_code = train_one(*options); });
}

}  // namespace equinorm::cli
