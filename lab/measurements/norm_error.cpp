// The error of an algorithm for LayerNorm in f32 against the truth oracle, over the offset of the
// row's mean or over its scale.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "lab/measurements/measurements.hpp"
#include "lab/models/parameters.hpp"
#include "lab/numerics_sweep/row_errors.hpp"

namespace equinorm::lab {
namespace {

using numerics::Algorithm;
using numerics::Operation;
using numerics::RowErrors;

constexpr std::size_t kColumns = 768;
constexpr int kRows = 4;
constexpr double kLostUlp = 4096;  // half of the digits of f32

struct Entrant {
  const char* name;
  Algorithm run;
};

constexpr Entrant kEntrants[] = {
    {"one-pass", numerics::one_pass}, {"kahan", numerics::kahan},
    {"shifted", numerics::shifted},   {"welford", numerics::welford},
    {"two-pass", numerics::two_pass}, {"one-pass f64", numerics::one_pass_f64},
    {"pytorch", numerics::pytorch},   {"equinorm", numerics::equinorm}};

std::vector<std::string> entrant_names() {
  std::vector<std::string> names;
  for (const Entrant& entrant : kEntrants) names.emplace_back(entrant.name);
  return names;
}

Algorithm algorithm_named(const std::string& name) {
  return std::find_if(std::begin(kEntrants), std::end(kEntrants),
                      [&](const Entrant& entrant) { return name == entrant.name; })
      ->run;
}

struct Setting {
  Algorithm run = nullptr;
  bool offset = true;  ///< otherwise scale
  double eps = 0;
};

// Offsets end at 1e7, beyond 2^24 spreads f32 holds no spread; scales at 1e20, where squares pass
// the largest f32.
std::vector<double> places(bool offset) {
  std::vector<double> all;
  const int first = offset ? 0 : -20;
  const int last = offset ? 7 : 20;
  const int per_decade = offset ? 2 : 1;
  for (int i = first * per_decade; i <= last * per_decade; ++i) {
    all.push_back(std::pow(10.0, static_cast<double>(i) / per_decade));
  }
  return all;
}

double spread_of(const std::vector<float>& y) {
  double squares = 0;
  for (const double value : y) squares += value * value;
  return std::sqrt(squares / static_cast<double>(y.size()));
}

MeasurementResult measure(const Setting& setting, std::uint64_t seed) {
  const auto normals = numerics::normal_rows(kRows, kColumns, derive_seed(seed, "rows"));
  MeasurementResult result;
  double lost_from = 0;
  double worst = 0;
  int nan_rows = 0;
  int zero_rows = 0;
  double smallest_spread = 1e300;
  for (const double place : places(setting.offset)) {
    RowErrors errors;
    double spread = 0;
    for (const std::vector<double>& normal : normals) {
      std::vector<float> x;
      for (const double value : normal) {
        x.push_back(static_cast<float>(setting.offset ? place + value : place * value));
      }
      std::vector<float> y(kColumns);
      setting.run(x, setting.eps, Operation::layer_norm, y);
      numerics::add_errors(y, numerics::truth_of(x, setting.eps, Operation::layer_norm), errors);
      spread += spread_of(y) / kRows;
    }
    const double ulp = errors.measured > 0 ? errors.worst_ulp : NAN;
    result.series["error_ulp"].emplace_back(place, ulp);
    result.series["spread"].emplace_back(place, spread);
    nan_rows += errors.nan_rows;
    zero_rows += errors.zero_rows;
    worst = std::max(worst, errors.worst_ulp);
    smallest_spread = std::min(smallest_spread, spread);
    const bool lost = errors.nan_rows > 0 || errors.zero_rows > 0 || errors.worst_ulp > kLostUlp;
    if (lost && lost_from == 0) lost_from = place;
  }
  result.metrics["worst_ulp"] = worst;
  result.metrics["not_finite_rows"] = nan_rows;
  result.metrics["lost_rows"] = zero_rows;
  result.metrics["smallest_spread"] = smallest_spread;
  // Beyond the sweep where nothing is lost.
  result.metrics["lost_from"] = lost_from == 0 ? 10 * places(setting.offset).back() : lost_from;
  return result;
}

}  // namespace

Measure prepare_norm_error(Parameters& parameters) {
  Setting setting;
  setting.run = algorithm_named(parameters.choice("algorithm", "equinorm", entrant_names()));
  setting.offset = parameters.choice("over", "offset", {"offset", "scale"}) == "offset";
  setting.eps = parameters.real("eps", 1e-5, 0, 1);
  return [setting](std::uint64_t seed) { return measure(setting, seed); };
}

}  // namespace equinorm::lab
