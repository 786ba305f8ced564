#include "run_one.hpp"

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "command.hpp"
#include "lab/data/files.hpp"
#include "lab/error.hpp"
#include "lab/experiment/interrupt.hpp"
#include "lab/measurements/measurements.hpp"
#include "lab/run_config_json.hpp"
#include "lab/train.hpp"

namespace equinorm::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

int train_one(const fs::path& run_dir, const RunOneOptions& options, const Json& json) {
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
  const lab::RunOutcome outcome = lab::train(config, run_dir, stop, train_options);
  return outcome.completed ? kDone : kInterrupted;
}

int measure_one(const fs::path& run_dir, const Json& json) {
  const lab::Measurement& measurement =
      lab::measurement_named(lab::measurements(), json.at("measurement").get<std::string>());
  lab::Parameters parameters(json.at("parameters"));
  const lab::Measure measure = measurement.prepare(parameters);
  const lab::MeasurementResult result = measure(json.at("seed").get<std::uint64_t>());
  lab::check_declared(measurement, result);
  lab::write_atomically(run_dir / "result.json", lab::to_json(result).dump(1) + "\n");
  return kDone;
}

}  // namespace

int run_one(const fs::path& run_dir, const RunOneOptions& options) {
  const fs::path path = run_dir / "config.json";
  lab::use_one_thread();
  try {
    const Json json = Json::parse(lab::read_text_file(path));
    return json.contains("measurement") ? measure_one(run_dir, json)
                                        : train_one(run_dir, options, json);
  } catch (const Json::exception& error) {
    throw lab::InputError(path.string() + ": " + error.what());
  }
}

}  // namespace equinorm::cli
