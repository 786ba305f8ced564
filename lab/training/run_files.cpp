// Run directory files as JSON.
#include "lab/training/run_files.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>

#include "lab/data/files.hpp"
#include "lab/error.hpp"
#include "lab/run_config_json.hpp"

namespace equinorm::lab {
namespace {

template <class Value>
nlohmann::ordered_json or_null(const std::optional<Value>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json timing_json(const RunTiming& timing) {
  nlohmann::ordered_json json;
  json["ms_per_step"] = timing.ms_per_step;
  json["tokens_per_second"] = timing.tokens_per_second;
  json["time_split"] = {{"norm", timing.time_split.norm},
                        {"attention", timing.time_split.attention},
                        {"ffn", timing.time_split.ffn},
                        {"optimizer", timing.time_split.optimizer},
                        {"other", timing.time_split.other}};
  json["eval_seconds"] = timing.eval_seconds;
  json["seconds_to_target"] = or_null(timing.seconds_to_target);
  return json;
}

nlohmann::ordered_json result_json(const RunResult& result) {
  nlohmann::ordered_json json;
  json["steps_done"] = result.steps_done;
  json["initial_loss"] = result.initial_loss;
  json["final_loss"] = result.final_loss;
  json["best_loss"] = result.best_loss;
  json["final_accuracy"] = or_null(result.final_accuracy);
  json["steps_to_target"] = or_null(result.steps_to_target);
  json["max_grad_norm"] = result.max_grad_norm;
  json["median_grad_norm"] = result.median_grad_norm;
  json["clipped_share"] = result.clipped_share;
  json["failure"] = result.failure.empty() ? nlohmann::ordered_json(nullptr)
                                           : nlohmann::ordered_json(result.failure);
  json["plateau"] = result.plateau;
  if (!result.metrics.empty()) json["metrics"] = result.metrics;
  if (!result.notes.empty()) json["notes"] = result.notes;
  if (!result.rounding.is_null()) json["rounding"] = result.rounding;
  return json;
}

[[noreturn]] void fail_to_write(const std::filesystem::path& path) {
  throw InputError("cannot write '" + path.string() + "': " + std::strerror(errno));
}

}  // namespace

RunFiles::RunFiles(const std::filesystem::path& directory, const RunConfig& config)
    : directory_(directory) {
  make_directories(directory_);
  for (const char* name : {"result.json", "timing.json", "metrics.jsonl", "weights.safetensors"}) {
    std::error_code error;
    std::filesystem::remove(directory_ / name, error);
    if (error) {
      throw InputError("cannot remove '" + (directory_ / name).string() + "': " + error.message());
    }
  }
  write_atomically(directory_ / "config.json", nlohmann::json(config).dump(2) + "\n");
  metrics_.open(directory_ / "metrics.jsonl", std::ios::binary);
  if (!metrics_) fail_to_write(directory_ / "metrics.jsonl");
}

void RunFiles::write_event(const nlohmann::ordered_json& event) {
  metrics_ << event.dump() << '\n' << std::flush;
  if (!metrics_) fail_to_write(directory_ / "metrics.jsonl");
}

void RunFiles::finish(const RunOutcome& outcome) {
  // On disk before result.json vouches for them, also when the power goes.
  metrics_.close();
  sync_file(directory_ / "metrics.jsonl");
  write_atomically(directory_ / "timing.json", timing_json(outcome.timing).dump(2) + "\n");
  write_atomically(directory_ / "result.json", result_json(outcome.result).dump(2) + "\n");
}

}  // namespace equinorm::lab
