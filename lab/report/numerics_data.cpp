#include "lab/report/numerics_data.hpp"

#include <nlohmann/json.hpp>

#include "lab/data/files.hpp"
#include "lab/error.hpp"
#include "lab/experiment/statistics.hpp"

namespace equinorm::lab::report {
namespace {

using Json = nlohmann::json;

NumericsPoint parse_point(const Json& json) {
  const Json& ulp = json.at("ulp");
  return {json.at("at").get<double>(), ulp.is_null() ? kNotANumber : ulp.get<double>(),
          json.at("nan_rows").get<int>(), json.at("zero_rows").get<int>()};
}

NumericsSeries parse_series(const Json& json) {
  NumericsSeries series{json.at("algorithm").get<std::string>(), {}};
  for (const Json& point : json.at("points")) series.points.push_back(parse_point(point));
  return series;
}

NumericsSweep parse_sweep(const Json& json) {
  NumericsSweep sweep{json.at("name").get<std::string>(),
                      json.at("operation").get<std::string>(),
                      json.at("axis").get<std::string>(),
                      json.at("eps").get<double>(),
                      {}};
  for (const Json& series : json.at("series")) sweep.series.push_back(parse_series(series));
  return sweep;
}

}  // namespace

Numerics load_numerics(const std::filesystem::path& file) {
  const std::string text = read_text_file(file);
  try {
    const Json json = Json::parse(text);
    Numerics numerics{json.at("columns").get<int>(),
                      json.at("rows").get<int>(),
                      json.at("bound_ulp").get<double>(),
                      {}};
    for (const Json& sweep : json.at("sweeps")) numerics.sweeps.push_back(parse_sweep(sweep));
    return numerics;
  } catch (const Json::exception& error) {
    throw InputError(file.string() + ": " + error.what());
  }
}

}  // namespace equinorm::lab::report
