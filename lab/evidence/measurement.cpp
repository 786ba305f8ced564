#include "lab/evidence/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "lab/error.hpp"
#include "lab/nearest.hpp"

namespace equinorm::lab {
namespace {

using Json = nlohmann::json;

[[noreturn]] void reject(const std::string& name, const Json& value, const std::string& rule) {
  throw UsageError(name + " = " + value.dump() + ": " + rule);
}

}  // namespace

double Parameters::real(const std::string& name, double fallback, double low, double high) {
  const Json value = given_.value(name, Json(fallback));
  if (!value.is_number() || value.get<double>() < low || value.get<double>() > high) {
    reject(name, value, fmt::format("must be a number from {:g} to {:g}", low, high));
  }
  complete_[name] = value.get<double>();
  return value.get<double>();
}

int Parameters::integer(const std::string& name, int fallback, int low, int high) {
  const Json value = given_.value(name, Json(fallback));
  if (!value.is_number_integer() || value.get<std::int64_t>() < low ||
      value.get<std::int64_t>() > high) {
    reject(name, value, fmt::format("must be a whole number from {} to {}", low, high));
  }
  complete_[name] = value.get<int>();
  return value.get<int>();
}

std::string Parameters::choice(const std::string& name, const std::string& fallback,
                               const std::vector<std::string>& choices) {
  const Json value = given_.value(name, Json(fallback));
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
    reject(name, value, one_of("must be one of", text, choices));
  }
  complete_[name] = value;
  return value.get<std::string>();
}

void Parameters::refuse_unknown() const {
  std::vector<std::string> known;
  for (const auto& [name, value] : complete_.items()) known.push_back(name);
  for (const auto& [name, value] : given_.items()) {
    if (!complete_.contains(name)) {
      reject(name, value, one_of("is unknown; the parameters are", name, known));
    }
  }
}

const Measurement& measurement_named(const std::vector<Measurement>& all, const std::string& name) {
  std::vector<std::string> names;
  for (const Measurement& measurement : all) {
    if (name == measurement.name) return measurement;
    names.emplace_back(measurement.name);
  }
  throw UsageError("measurement = \"" + name + "\": " + one_of("must be one of", name, names));
}

Json measurement_config(const Measurement& measurement, const Json& given, std::uint64_t seed) {
  Parameters parameters(given);
  static_cast<void>(measurement.prepare(parameters));
  parameters.refuse_unknown();
  return {{"measurement", measurement.name},
          {"version", measurement.version},
          {"parameters", parameters.complete()},
          {"seed", seed}};
}

void check_declared(const Measurement& measurement, const MeasurementResult& result) {
  const auto check = [&](const std::vector<std::string>& declared, const std::string& name) {
    if (std::find(declared.begin(), declared.end(), name) != declared.end()) return;
    throw std::logic_error(
        fmt::format("measurement {} does not declare {}", measurement.name, name));
  };
  for (const auto& [name, value] : result.metrics) check(measurement.metrics, name);
  for (const auto& [name, curve] : result.series) check(measurement.series, name);
}

Json to_json(const MeasurementResult& result) {
  Json json = {{"metrics", Json::object()}, {"series", Json::object()}};
  for (const auto& [name, value] : result.metrics) {
    json["metrics"][name] = std::isfinite(value) ? Json(value) : Json(nullptr);
  }
  for (const auto& [name, curve] : result.series) {
    Json points = Json::array();
    for (const auto& [x, y] : curve) {
      points.push_back({x, std::isfinite(y) ? Json(y) : Json(nullptr)});
    }
    json["series"][name] = points;
  }
  return json;
}

}  // namespace equinorm::lab
