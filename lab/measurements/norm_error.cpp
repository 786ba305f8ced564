// The error of an algorithm for LayerNorm in a number format against the truth oracle, over the
// offset of the row's mean or over its scale.
//
// The one trap: the truth is that of the row as the format holds it; what rounding to the format
// took from the row is not the algorithm's error.
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <cmath>
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

struct Entrant {
  const char* name;
  Algorithm run;
};

constexpr Entrant kEntrants[] = {
    {"one-pass", numerics::one_pass}, {"kahan", numerics::kahan},
    {"shifted", numerics::shifted},   {"welford", numerics::welford},
    {"two-pass", numerics::two_pass}, {"one-pass f64", numerics::one_pass_f64},
    {"pytorch", numerics::pytorch},   {"equinorm", numerics::equinorm}};

struct Format {
  const char* name;
  DType dtype;
  int digits;  ///< binary
  float (*round)(double);
  int least_scale, largest_scale;  ///< powers of ten
};

// Of f32 and bf16 up to where squares pass the largest f32, of fp16 up to its largest number.
constexpr Format kFormats[] = {
    {"f32", DType::f32, 24, [](double v) { return static_cast<float>(v); }, -20, 20},
    {"f16", DType::f16, 11, [](double v) -> float { return c10::Half(static_cast<float>(v)); }, -7,
     4},
    {"bf16", DType::bf16, 8, [](double v) -> float { return c10::BFloat16(static_cast<float>(v)); },
     -20, 20}};

struct Setting {
  Algorithm run = nullptr;
  const Format* format = nullptr;
  bool offset = true;  ///< otherwise scale
  double eps = 0;
};

// Offsets in spreads, two per decade, as far as the format still holds a spread beside them; or
// scales, one per decade.
std::vector<double> places(const Setting& setting) {
  const Format& format = *setting.format;
  std::vector<double> all;
  if (setting.offset) {
    const double last = std::ldexp(1.0, format.digits);
    for (int i = 0; std::pow(10.0, i / 2.0) <= last; ++i) all.push_back(std::pow(10.0, i / 2.0));
  } else {
    for (int i = format.least_scale; i <= format.largest_scale; ++i) {
      all.push_back(std::pow(10.0, i));
    }
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
  const double lost_ulp = std::exp2(setting.format->digits / 2.0);  // half of the digits
  for (const double place : places(setting)) {
    RowErrors errors;
    double spread = 0;
    for (const std::vector<double>& normal : normals) {
      std::vector<float> x;
      for (const double value : normal) {
        x.push_back(setting.format->round(setting.offset ? place + value : place * value));
      }
      std::vector<float> y(kColumns);
      const numerics::Row row{x, setting.format->dtype, setting.eps, Operation::layer_norm};
      setting.run(row, y);
      numerics::add_errors(y, row.dtype, numerics::truth_of(row), errors);
      spread += spread_of(y) / kRows;
    }
    const double ulp = errors.measured > 0 ? errors.worst_ulp : NAN;
    result.series["error_ulp"].emplace_back(place, ulp);
    result.series["spread"].emplace_back(place, spread);
    nan_rows += errors.nan_rows;
    zero_rows += errors.zero_rows;
    worst = std::max(worst, errors.worst_ulp);
    smallest_spread = std::min(smallest_spread, spread);
    const bool lost = errors.nan_rows > 0 || errors.zero_rows > 0 || errors.worst_ulp > lost_ulp;
    if (lost && lost_from == 0) lost_from = place;
  }
  result.metrics["worst_ulp"] = worst;
  result.metrics["not_finite_rows"] = nan_rows;
  result.metrics["lost_rows"] = zero_rows;
  result.metrics["smallest_spread"] = smallest_spread;
  // Beyond the sweep where nothing is lost.
  result.metrics["lost_from"] = lost_from == 0 ? 10 * places(setting).back() : lost_from;
  return result;
}

}  // namespace

Measure prepare_norm_error(Parameters& parameters) {
  Setting setting;
  setting.run = parameters.entry("algorithm", "equinorm", kEntrants).run;
  setting.format = &parameters.entry("dtype", "f32", kFormats);
  setting.offset = parameters.choice("over", "offset", {"offset", "scale"}) == "offset";
  setting.eps = parameters.real("eps", 1e-5, 0, 1);
  return [setting](std::uint64_t seed) { return measure(setting, seed); };
}

}  // namespace equinorm::lab
