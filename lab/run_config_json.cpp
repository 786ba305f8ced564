// RunConfig as JSON. One list of fields drives both directions and the hash.
#include "lab/run_config_json.hpp"

#include <string_view>

#include "lab/data/sha256.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

// Part of the hash: raise it when the training code changes curves, so old runs are not reused.
constexpr int kTrainingVersion = 1;

template <class Config, class Visit>
void for_each_field(Config& config, Visit&& visit) {
  visit("task", config.task);
  visit("source", config.source);
  visit("source_sha256", config.source_sha256);
  visit("norm", config.norm);
  visit("placement", config.placement);
  visit("depth", config.depth);
  visit("width", config.width);
  visit("heads", config.heads);
  visit("ffn", config.ffn);
  visit("context", config.context);
  visit("dropout", config.dropout);
  visit("batch", config.batch);
  visit("steps", config.steps);
  visit("warmup", config.warmup);
  visit("learning_rate", config.learning_rate);
  visit("clip", config.clip);
  visit("seed", config.seed);
  visit("eval_every", config.eval_every);
  visit("instrument_every", config.instrument_every);
  visit("target", config.target);
}

// Fields that are left out where they have their default: a run without them is the same run as
// one that could not choose.
template <class Config, class Visit>
void for_each_optional_field(Config& config, Visit&& visit) {
  visit("qk_norm", config.qk_norm);
  visit("model", config.model);
  visit("padding", config.padding);
  visit("direction", config.direction);
  visit("max_words", config.max_words);
  visit("order", config.order);
  visit("groups", config.groups);
  visit("initial_gain", config.initial_gain);
  visit("conditioning", config.conditioning);
  visit("dropout_place", config.dropout_place);
  visit("placement_parts", config.placement_parts);
  visit("gain_start", config.gain_start);
  visit("affine", config.affine);
  visit("eps", config.eps);
  visit("norm_kernel", config.norm_kernel);
  visit("precision", config.precision);
  visit("loss_scale", config.loss_scale);
  visit("train_samples", config.train_samples);
  visit("probes", config.probes);
}

constexpr std::string_view kVersionField = "training_version";

nlohmann::json optional_fields(const RunConfig& config) {
  nlohmann::json json = nlohmann::json::object();
  for_each_optional_field(config, [&](const char* name, const auto& value) { json[name] = value; });
  return json;
}

}  // namespace

void to_json(nlohmann::json& json, const RunConfig& config) {
  json = nlohmann::json::object();
  json[std::string(kVersionField)] = kTrainingVersion;
  for_each_field(config, [&](const char* name, const auto& value) { json[name] = value; });
  const nlohmann::json usual = optional_fields(RunConfig{});
  const nlohmann::json chosen = optional_fields(config);
  for (const auto& [name, value] : chosen.items()) {
    if (value != usual[name]) json[name] = value;
  }
}

nlohmann::json all_fields(const RunConfig& config) {
  nlohmann::json json = config;
  json.erase(std::string(kVersionField));
  json.update(optional_fields(config));
  return json;
}

void from_json(const nlohmann::json& json, RunConfig& config) {
  if (!json.is_object()) throw InputError("run config: must be a JSON object");
  config = RunConfig{};  // the defaults of optional fields
  std::size_t known = json.contains(kVersionField) ? 1 : 0;
  const auto read = [&](const char* name, auto& value) {
    const auto field = json.find(name);
    if (field == json.end()) {
      throw InputError(std::string("run config: field '") + name + "' is missing");
    }
    try {
      field->get_to(value);
    } catch (const nlohmann::json::exception&) {
      throw InputError(std::string("run config: field '") + name + "' = " + field->dump() +
                       " has the wrong type");
    }
    ++known;
  };
  for_each_field(config, read);
  for_each_optional_field(config, [&](const char* name, auto& value) {
    if (json.contains(name)) read(name, value);
  });
  if (known != json.size()) throw InputError("run config: holds fields of another version");
}

std::string run_id(const RunConfig& config) {
  nlohmann::json json = config;
  if (!config.source_sha256.empty()) json.erase("source");
  // dump() sorts the keys and prints numbers to round-trip, so equal configs give equal text.
  const std::string hash = sha256_hex(json.dump()).substr(0, 12);
  return config.task + "-" + config.norm + "-" + config.placement + "-lr" +
         nlohmann::json(config.learning_rate).dump() + "-s" + std::to_string(config.seed) + "-" +
         hash;
}

}  // namespace equinorm::lab
