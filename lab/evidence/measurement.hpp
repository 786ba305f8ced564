// A measurement: a run without training. It reads its parameters, says what is wrong with them, and
// gives a function that turns a seed into named numbers. The table of all measurements is in
// lab/measurements; no LibTorch here.
//
// The one trap: `prepare` must read every parameter and do no work, since it is also how a
// declaration is checked before anything runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace equinorm::lab {

/// Points (x, y) of a curve; a y that is not finite interrupts it.
using Curve = std::vector<std::pair<double, double>>;

struct MeasurementResult {
  std::map<std::string, double> metrics;
  std::map<std::string, Curve> series;
};

using Measure = std::function<MeasurementResult(std::uint64_t seed)>;

/// The parameters of one measurement, each read once with its default and its rule.
class Parameters {
 public:
  explicit Parameters(nlohmann::json given) : given_(std::move(given)) {}

  /// Throw UsageError "name = value: rule".
  double real(const std::string& name, double fallback, double low, double high);
  int integer(const std::string& name, int fallback, int low, int high);
  std::string choice(const std::string& name, const std::string& fallback,
                     const std::vector<std::string>& choices);
  /// The entry of a table of things with a `name` that the parameter names.
  template <class Entry, std::size_t Count>
  const Entry& entry(const std::string& name, const std::string& fallback,
                     const Entry (&table)[Count]) {
    std::vector<std::string> names;
    for (const Entry& one : table) names.emplace_back(one.name);
    const std::string chosen = choice(name, fallback, names);
    return table[std::find(names.begin(), names.end(), chosen) - names.begin()];
  }

  /// Throws UsageError for a parameter that nobody has read.
  void refuse_unknown() const;
  /// All that were read, defaults included.
  [[nodiscard]] const nlohmann::json& complete() const { return complete_; }

 private:
  nlohmann::json given_;
  nlohmann::json complete_ = nlohmann::json::object();
};

struct Measurement {
  const char* name;
  int version;  ///< raise it when the numbers change, so that old results are not reused
  const char* what;
  Measure (*prepare)(Parameters& parameters);
  std::vector<std::string> metrics;  ///< all that it can give
  std::vector<std::string> series;
};

/// Throws UsageError for a name that is not among them.
const Measurement& measurement_named(const std::vector<Measurement>& all, const std::string& name);

/// config.json of a measurement: name, version, seed, all parameters. Throws UsageError for
/// parameters that break a rule.
nlohmann::json measurement_config(const Measurement& measurement, const nlohmann::json& given,
                                  std::uint64_t seed);

/// Throws std::logic_error for a metric or series that the measurement has not declared.
void check_declared(const Measurement& measurement, const MeasurementResult& result);

/// result.json; numbers that are not finite become null.
nlohmann::json to_json(const MeasurementResult& result);

}  // namespace equinorm::lab
