// Run directories with chosen numbers, for tests of what reads them.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "../temporary_directory.hpp"
#include "lab/data/files.hpp"
#include "lab/experiment/run_store.hpp"
#include "lab/run_config_json.hpp"

namespace equinorm::lab::testing {

/// What a synthetic run ended with.
struct Ending {
  double final_loss = 1;
  double accuracy = 0.5;
  double initial_loss = 2.5;
  std::string failure;      ///< empty: none
  int steps_to_target = 0;  ///< 0: not reached
  double ms_per_step = 2;
  double norm_share = 0.25;
  double max_grad_norm = 5;
};

inline nlohmann::json result_json(const Ending& ending) {
  nlohmann::json json = {{"steps_done", 2},
                         {"initial_loss", ending.initial_loss},
                         {"final_loss", ending.final_loss},
                         {"best_loss", ending.final_loss},
                         {"final_accuracy", ending.accuracy},
                         {"steps_to_target", nullptr},
                         {"max_grad_norm", ending.max_grad_norm},
                         {"median_grad_norm", 1.5},
                         {"clipped_share", 0.0},
                         {"failure", nullptr},
                         {"plateau", 2.3}};
  if (ending.steps_to_target > 0) json["steps_to_target"] = ending.steps_to_target;
  if (!ending.failure.empty()) json["failure"] = ending.failure;
  // JSON has no NaN: dump() writes it as null, as the training does.
  return json;
}

inline nlohmann::json timing_json(const Ending& ending) {
  return {{"ms_per_step", ending.ms_per_step},
          {"tokens_per_second", 1000.0},
          {"time_split",
           {{"norm", ending.norm_share},
            {"attention", 0.25},
            {"ffn", 0.25},
            {"optimizer", 0.125},
            {"other", 0.375 - ending.norm_share}}},
          {"eval_seconds", {0.5}},
          {"seconds_to_target", nullptr}};
}

/// Of two steps, evaluated every two.
inline const char* metrics_text() {
  return R"({"event":"eval","step":0,"loss":2.5,"accuracy":0.1}
{"event":"train","step":1,"loss":2.25,"grad_norm":3.5,"clipped":true,"learning_rate":0.0005}
{"event":"layers","step":1,"grad_norm":{"embedding":1.0,"final_norm":null,"head":2.0,"layers":[{"qkv":0.5,"out":0.25,"fc1":0.125,"fc2":0.75,"gamma":null,"beta":null,"total":1.5}]},"activation_rms":[1.25],"activation_max":[4.5],"branch_ratio":[0.5]}
{"event":"train","step":2,"loss":null,"grad_norm":null,"clipped":false,"learning_rate":0.001}
{"event":"eval","step":2,"loss":1.5,"accuracy":null}
)";
}

/// Of `steps` steps with loss(step) each, evaluated before the first and after the last.
template <class Loss>
std::string metrics_text(int steps, Loss&& loss) {
  const auto eval = [](int step, double of_eval) {
    return nlohmann::ordered_json{
               {"event", "eval"}, {"step", step}, {"loss", of_eval}, {"accuracy", 0.1}}
               .dump() +
           "\n";
  };
  std::string text = eval(0, 4);
  for (int step = 1; step <= steps; ++step) {
    const nlohmann::ordered_json event = {{"event", "train"},   {"step", step},
                                          {"loss", loss(step)}, {"grad_norm", 1.0},
                                          {"clipped", false},   {"learning_rate", 1e-3}};
    text += event.dump() + "\n";
  }
  return text + eval(steps, 1.5);
}

/// Writes a finished run of `config` under out/runs and returns its id.
inline std::string write_run(const std::filesystem::path& out, const RunConfig& config,
                             const Ending& ending) {
  const std::string id = run_id(config);
  const std::filesystem::path dir = out / "runs" / id;
  make_directories(dir);
  write_atomically(dir / "config.json", nlohmann::json(config).dump());
  write_atomically(dir / "metrics.jsonl", metrics_text());
  write_atomically(dir / "timing.json", timing_json(ending).dump());
  write_atomically(dir / "result.json", result_json(ending).dump());
  return id;
}

inline RunConfig make_config(const std::string& task, const std::string& norm,
                             const std::string& placement, double learning_rate,
                             std::uint64_t seed) {
  RunConfig config;
  config.task = task;
  config.norm = norm;
  config.placement = placement;
  config.learning_rate = learning_rate;
  config.seed = seed;
  config.target = 0.75;
  config.steps = 2;
  config.eval_every = 2;
  return config;
}

}  // namespace equinorm::lab::testing
