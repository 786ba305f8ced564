#include "lab/experiment/run_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lab/data/files.hpp"
#include "lab/error.hpp"
#include "lab/models/placement.hpp"
#include "lab/run_config_json.hpp"

namespace equinorm::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Runs `parse` and gives its errors the file (and line) they came from.
template <class Parse>
auto with_place(const std::string& place, Parse&& parse) {
  try {
    return parse();
  } catch (const Json::exception& error) {
    throw InputError(place + ": " + error.what());
  } catch (const InputError& error) {
    throw InputError(place + ": " + error.what());
  }
}

Json read_json(const fs::path& path) {
  const std::string text = read_text_file(path);
  return with_place(path.string(), [&] { return Json::parse(text); });
}

double number(const Json& json, const char* name) {
  const Json& field = json.at(name);
  return field.is_null() ? kNotANumber : field.get<double>();
}

double number_if_there(const Json& json, const char* name) {
  return json.contains(name) ? number(json, name) : kNotANumber;
}

template <class T>
std::optional<T> optional_field(const Json& json, const char* name) {
  const Json& field = json.at(name);
  if (field.is_null()) return std::nullopt;
  return field.get<T>();
}

std::vector<double> numbers(const Json& json, const char* name) {
  std::vector<double> values;
  for (const Json& field : json.at(name)) {
    values.push_back(field.is_null() ? kNotANumber : field.get<double>());
  }
  return values;
}

RunResult parse_result(const Json& json) {
  RunResult result;
  result.steps_done = json.at("steps_done").get<int>();
  result.initial_loss = number(json, "initial_loss");
  result.final_loss = number(json, "final_loss");
  result.best_loss = number(json, "best_loss");
  result.final_accuracy = optional_field<double>(json, "final_accuracy");
  result.steps_to_target = optional_field<int>(json, "steps_to_target");
  result.max_grad_norm = number(json, "max_grad_norm");
  result.median_grad_norm = number(json, "median_grad_norm");
  result.clipped_share = number(json, "clipped_share");
  result.failure = optional_field<std::string>(json, "failure").value_or("");
  result.plateau = number(json, "plateau");
  if (json.contains("metrics")) {
    for (const auto& [name, value] : json.at("metrics").items()) {
      if (value.is_number()) result.metrics[name] = value.get<double>();
    }
  }
  for (const char* known : {"", "non-finite", "stall", "blow-up"}) {
    if (result.failure == known) return result;
  }
  throw InputError("failure = '" + result.failure +
                   "': must be non-finite, stall, blow-up or null");
}

RunTiming parse_timing(const Json& json) {
  RunTiming timing;
  timing.ms_per_step = number(json, "ms_per_step");
  timing.tokens_per_second = number(json, "tokens_per_second");
  const Json& split = json.at("time_split");
  timing.time_split = {number(split, "norm"), number(split, "attention"), number(split, "ffn"),
                       number(split, "optimizer"), number(split, "other")};
  timing.eval_seconds = numbers(json, "eval_seconds");
  timing.seconds_to_target = optional_field<double>(json, "seconds_to_target");
  return timing;
}

/// One number of a layer: itself, the mean of a list, or the total of an object.
double layer_number(const Json& json) {
  if (json.is_object()) return number(json, "total");
  if (json.is_number()) return json.get<double>();
  double sum = 0;
  for (const Json& part : json) sum += part.is_null() ? kNotANumber : part.get<double>();
  return json.empty() ? kNotANumber : sum / static_cast<double>(json.size());
}

void parse_instruments(const Json& event, LayerSample& sample) {
  for (const char* name : kLayerInstruments) {
    if (!event.contains(name)) continue;
    const Json& field = event.at(name);
    for (const Json& layer : field.is_object() ? field.at("layers") : field) {
      sample.by_layer[name].push_back(layer_number(layer));
    }
  }
  if (event.contains("update_ratio")) sample.update_ratio = number(event["update_ratio"], "total");
  sample.growth_exponent = number_if_there(event, "growth_exponent");
  sample.logsumexp = number_if_there(event, "logsumexp");
}

LayerSample parse_layers(const Json& event) {
  const Json& norms = event.at("grad_norm");
  LayerSample sample;
  sample.step = event.at("step").get<int>();
  sample.embedding_grad_norm = number(norms, "embedding");
  sample.final_norm_grad_norm = number_if_there(norms, "final_norm");
  sample.head_grad_norm = number(norms, "head");
  for (const Json& layer : norms.at("layers")) {
    sample.layers.push_back({number(layer, "qkv"), number(layer, "out"), number(layer, "fc1"),
                             number(layer, "fc2"), number(layer, "gamma"), number(layer, "beta"),
                             number(layer, "total")});
  }
  sample.activation_rms = numbers(event, "activation_rms");
  sample.activation_max = numbers(event, "activation_max");
  sample.branch_ratio = numbers(event, "branch_ratio");
  parse_instruments(event, sample);
  return sample;
}

void parse_event(const Json& event, Run& run) {
  const auto kind = event.at("event").get<std::string>();
  if (kind == "train") {
    run.train.push_back({event.at("step").get<int>(), number(event, "loss"),
                         number(event, "grad_norm"), event.at("clipped").get<bool>(),
                         number(event, "learning_rate")});
  } else if (kind == "eval") {
    run.evals.push_back({event.at("step").get<int>(), number(event, "loss"),
                         optional_field<double>(event, "accuracy")});
  } else if (kind == "layers") {
    run.layers.push_back(parse_layers(event));
  } else {
    throw InputError("event = '" + kind + "': must be train, eval or layers");
  }
}

void load_metrics(const fs::path& path, Run& run) {
  std::istringstream lines(read_text_file(path));
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    with_place(path.string() + ":" + std::to_string(number),
               [&] { parse_event(Json::parse(line), run); });
  }
}

void require_count(std::size_t found, int expected, const char* what) {
  if (static_cast<int>(found) == expected) return;
  throw InputError(fmt::format("incomplete: {} of {} {}; the same comparison repeats such a run",
                               found, expected, what));
}

/// A file that lost lines is still good JSON, so the events that a run must have are counted.
void require_all_events(const Run& run) {
  const RunConfig& config = run.config;
  const bool stopped = run.result.failure == "non-finite";
  const int steps = stopped ? run.result.steps_done : config.steps;
  // The step that was not finite is an event, but not one that was done.
  const bool ends_in_train = stopped && !run.train.empty() && run.train.back().step > steps;
  require_count(run.train.size(), steps + (ends_in_train ? 1 : 0), "training steps");
  const int every = std::max(1, config.eval_every);
  const bool extra = steps == config.steps && steps % every != 0;
  require_count(run.evals.size(), 1 + steps / every + (extra ? 1 : 0), "evaluations");
}

RunConfig load_config(const fs::path& path) {
  const Json json = read_json(path);
  return with_place(path.string(), [&] { return json.get<RunConfig>(); });
}

RunError load_error(const fs::path& run_dir) {
  return {load_crash(run_dir), load_config(run_dir / "config.json")};
}

CompareRequest parse_request(const Json& json) {
  CompareRequest request;
  json.at("command").get_to(request.command);
  json.at("tasks").get_to(request.tasks);
  for (const Json& arm : json.at("arms")) {
    request.arms.push_back(
        {arm.at("norm").get<std::string>(), arm.at("placement").get<std::string>()});
  }
  json.at("learning_rates").get_to(request.learning_rates);
  json.at("seeds").get_to(request.seeds);
  json.at("baseline").get_to(request.baseline);
  json.at("runs").get_to(request.run_ids);
  json.at("settings").get_to(request.settings);
  json.at("environment").get_to(request.environment);
  return request;
}

}  // namespace

std::string Arm::name() const {
  if (norm != "none") return norm + "-" + placement;
  const Placement* found = find_placement(placement);
  return found != nullptr && !has_norm(*found) ? placement : "none";
}

Arm make_arm(const std::string& norm, const std::string& placement) {
  const Placement* found = find_placement(placement);
  if (found != nullptr && !has_norm(*found) && placement != "none") return {"none", placement};
  if (norm == "none" || placement == "none") return {"none", "pre"};
  return {norm, placement};
}

void save_request(const fs::path& out_dir, const CompareRequest& request) {
  Json arms = Json::array();
  for (const Arm& arm : request.arms) {
    arms.push_back({{"name", arm.name()}, {"norm", arm.norm}, {"placement", arm.placement}});
  }
  const Json json = {{"command", request.command},
                     {"tasks", request.tasks},
                     {"arms", arms},
                     {"learning_rates", request.learning_rates},
                     {"seeds", request.seeds},
                     {"settings", request.settings},
                     {"baseline", request.baseline},
                     {"runs", request.run_ids},
                     {"environment", request.environment}};
  write_atomically(out_dir / "compare.json", json.dump(1) + "\n");
}

void save_error(const fs::path& run_dir, const Crash& crash) {
  Json json = {{"exit_code", nullptr}, {"signal", nullptr}, {"stderr", crash.stderr_tail}};
  if (crash.exit_code) json["exit_code"] = *crash.exit_code;
  if (crash.signal) json["signal"] = *crash.signal;
  const std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace);
  write_atomically(run_dir / "error.json", text + "\n");
}

Crash load_crash(const fs::path& run_dir) {
  const fs::path path = run_dir / "error.json";
  const Json json = read_json(path);
  Crash crash;
  crash.id = run_dir.filename().string();
  with_place(path.string(), [&] {
    crash.exit_code = optional_field<int>(json, "exit_code");
    crash.signal = optional_field<int>(json, "signal");
    crash.stderr_tail = json.at("stderr").get<std::string>();
  });
  return crash;
}

bool is_finished(const fs::path& run_dir) { return fs::exists(run_dir / "result.json"); }

Run load_run(const fs::path& run_dir) {
  Run run;
  run.dir = run_dir;
  run.id = run_dir.filename().string();
  const Json result = read_json(run_dir / "result.json");
  run.result = with_place((run_dir / "result.json").string(), [&] { return parse_result(result); });
  run.config = load_config(run_dir / "config.json");
  const Json timing = read_json(run_dir / "timing.json");
  run.timing = with_place((run_dir / "timing.json").string(), [&] { return parse_timing(timing); });
  load_metrics(run_dir / "metrics.jsonl", run);
  with_place((run_dir / "metrics.jsonl").string(), [&] { require_all_events(run); });
  return run;
}

Comparison load_comparison(const fs::path& out_dir, const std::vector<RunError>& errors) {
  Comparison comparison;
  comparison.dir = out_dir;
  const fs::path path = out_dir / "compare.json";
  const Json json = read_json(path);
  comparison.request = with_place(path.string(), [&] { return parse_request(json); });
  for (const std::string& id : comparison.request.run_ids) {
    const fs::path run_dir = out_dir / "runs" / id;
    const auto known = std::find_if(errors.begin(), errors.end(),
                                    [&](const RunError& error) { return error.id == id; });
    if (known != errors.end()) {
      comparison.errors.push_back(*known);
    } else if (is_finished(run_dir)) {
      comparison.runs.push_back(load_run(run_dir));
    } else if (fs::exists(run_dir / "error.json")) {
      comparison.errors.push_back(load_error(run_dir));
    } else {
      comparison.unfinished.push_back(id);
    }
  }
  return comparison;
}

}  // namespace equinorm::lab
