#include "lab/numerics_sweep/numerics_sweep.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "lab/data/files.hpp"
#include "lab/numerics_sweep/algorithms.hpp"
#include "lab/numerics_sweep/row_errors.hpp"

namespace equinorm::lab {
namespace {

using Json = nlohmann::ordered_json;
using numerics::Algorithm;
using numerics::Operation;
using numerics::RowErrors;

constexpr std::size_t kColumns = 768;
constexpr int kRows = 4;
constexpr std::uint64_t kSeed = 20240607;
constexpr double kBoundUlp = 3;  // docs/numerics.md, section 6: y, standard, in scale ulp

Json to_json(double at, const RowErrors& errors) {
  return {{"at", at},
          {"ulp", errors.measured > 0 ? Json(errors.worst_ulp) : Json()},
          {"nan_rows", errors.nan_rows},
          {"zero_rows", errors.zero_rows}};
}

struct Entrant {
  const char* name;
  Algorithm run;
};

struct Sweep {
  const char* name;
  const char* label;
  const char* axis;
  Operation operation;
  double eps;
  std::vector<double> at;
  float (*input)(double normal, double at);
};

Json run_sweep(const Sweep& sweep, const std::vector<Entrant>& entrants) {
  std::vector<Json> points(entrants.size(), Json::array());
  const auto normals = numerics::normal_rows(kRows, kColumns, kSeed);
  for (const double at : sweep.at) {
    std::vector<RowErrors> errors(entrants.size());
    for (const std::vector<double>& normal : normals) {
      std::vector<float> x, y(kColumns);
      for (const double value : normal) x.push_back(sweep.input(value, at));
      const numerics::Row row{x, DType::f32, sweep.eps, sweep.operation};
      const truth::Forward exact = numerics::truth_of(row);
      for (std::size_t i = 0; i < entrants.size(); ++i) {
        entrants[i].run(row, y);
        numerics::add_errors(y, row.dtype, exact, errors[i]);
      }
    }
    for (std::size_t i = 0; i < entrants.size(); ++i) points[i].push_back(to_json(at, errors[i]));
  }
  Json series = Json::array();
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    series.push_back({{"algorithm", entrants[i].name}, {"points", points[i]}});
  }
  return {{"name", sweep.name},
          {"operation", sweep.label},
          {"axis", sweep.axis},
          {"eps", sweep.eps},
          {"series", series}};
}

// Powers of ten from 10^first to 10^last, `per_decade` a decade.
std::vector<double> powers(int first, int last, int per_decade) {
  std::vector<double> values;
  for (int i = first * per_decade; i <= last * per_decade; ++i) {
    values.push_back(std::pow(10.0, static_cast<double>(i) / per_decade));
  }
  return values;
}

// Offsets end at 1e7: beyond 2^24 spreads f32 holds no spread.
float shifted(double normal, double offset) { return static_cast<float>(offset + normal); }

// Scales end at 1e37: the largest of 3072 normal values is about 4, and 4e37 still is finite.
float scaled(double normal, double scale) { return static_cast<float>(scale * normal); }

}  // namespace

std::string measure_numerics() {
  const Entrant one_pass{"one-pass", numerics::one_pass};
  const Entrant two_pass{"two-pass", numerics::two_pass};
  const Entrant pytorch{"pytorch", numerics::pytorch};
  const Entrant ours{"equinorm", numerics::equinorm};
  const std::vector<double> scales = powers(-38, 37, 1);

  Json json;
  json["columns"] = kColumns;
  json["rows"] = kRows;
  json["bound_ulp"] = kBoundUlp;
  json["sweeps"] = Json::array();
  json["sweeps"].push_back(run_sweep({"layer-norm-offset", "LayerNorm", "offset / spread",
                                      Operation::layer_norm, 1e-5, powers(-1, 7, 2), shifted},
                                     {one_pass, two_pass, pytorch, ours}));
  json["sweeps"].push_back(run_sweep(
      {"layer-norm-scale", "LayerNorm", "scale", Operation::layer_norm, 0, scales, scaled},
      {one_pass, two_pass, pytorch, ours}));
  json["sweeps"].push_back(
      run_sweep({"rms-norm-scale", "RMSNorm", "scale", Operation::rms_norm, 0, scales, scaled},
                {two_pass, pytorch, ours}));
  return json.dump(1) + "\n";
}

void write_numerics(const std::filesystem::path& file) {
  write_atomically(file, measure_numerics());
}

}  // namespace equinorm::lab
