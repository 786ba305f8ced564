// `equinorm run-one DIR`: the hidden subcommand that `equinorm compare` and `equinorm lab` start
// for each run. It trains or measures what DIR/config.json says and reports its steps on standard
// output.
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
#include "lab/measurements/measurements.hpp"
#include "lab/run_config_json.hpp"
#include "lab/train.hpp"

namespace equinorm::cli {
namespace {

using Json = nlohmann::json;

struct Options {
  std::string run_dir;
  std::string cache;
  bool weights = false;
};

int train_one(const Options& options, const Json& json) {
  const auto config = json.get<lab::RunConfig>();
  using Clock = std::chrono::steady_clock;
  auto last_report = Clock::now();
  lab::TrainOptions train_options;
  train_options.cache_dir = options.cache;
  train_options.save_weights = options.weights;
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

int measure_one(const Options& options, const Json& json) {
  const lab::Measurement& measurement =
      lab::measurement_named(lab::measurements(), json.at("measurement").get<std::string>());
  lab::Parameters parameters(json.at("parameters"));
  const lab::Measure measure = measurement.prepare(parameters);
  const lab::MeasurementResult result = measure(json.at("seed").get<std::uint64_t>());
  lab::check_declared(measurement, result);
  lab::write_atomically(options.run_dir + "/result.json", lab::to_json(result).dump(1) + "\n");
  return kDone;
}

int run_one(const Options& options) {
  const std::string path = options.run_dir + "/config.json";
  try {
    const Json json = Json::parse(lab::read_text_file(path));
    return json.contains("measurement") ? measure_one(options, json) : train_one(options, json);
  } catch (const Json::exception& error) {
    throw InputError(path + ": " + error.what());
  }
}

}  // namespace

void add_run_one(CLI::App& app, int& exit_code) {
  CLI::App* sub = app.add_subcommand("run-one", "Train or measure one run");
  sub->group("");
  const auto options = std::make_shared<Options>();
  sub->add_option("run_dir", options->run_dir, "Run directory with a config.json")->required();
  sub->add_option("--cache", options->cache, "Cache of prepared data");
  sub->add_flag("--weights", options->weights, "Also weights.safetensors, of a training");
  sub->callback([options, &exit_code] { exit_code = run_one(*options); });
}

}  // namespace equinorm::cli
