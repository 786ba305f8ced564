#include "lab/numerics_sweep/numerics_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <vector>

#include "equinorm/reference.hpp"
#include "lab/data/files.hpp"
#include "lab/numerics_sweep/algorithms.hpp"

namespace equinorm::lab {
namespace {

using Json = nlohmann::ordered_json;
using numerics::Algorithm;
using numerics::Operation;

constexpr std::size_t kColumns = 768;
constexpr int kRows = 4;
constexpr double kBoundUlp = 3;  // docs/numerics.md, section 6: y, standard, in scale ulp

using Row = std::vector<float>;

// Standard normal values; std::normal_distribution is not the same in every library.
std::vector<std::vector<double>> normal_rows() {
  std::mt19937_64 generator(20240607);
  const auto uniform = [&generator] {
    return (static_cast<double>(generator() >> 11) + 0.5) * 0x1p-53;
  };
  std::vector<std::vector<double>> rows(kRows, std::vector<double>(kColumns));
  for (std::vector<double>& row : rows) {
    for (double& value : row) {
      const double radius = std::sqrt(-2 * std::log(uniform()));
      value = radius * std::cos(6.283185307179586 * uniform());
    }
  }
  return rows;
}

truth::Forward truth_of(const Row& x, double eps, Operation operation) {
  const auto n = static_cast<std::int64_t>(x.size());
  const ConstRows in{x.data(), DType::f32, 1, n, n};
  if (operation == Operation::layer_norm) {
    LayerNormForward args;
    args.x = in;
    args.eps = eps;
    return truth::layer_norm_forward(args);
  }
  RmsNormForward args;
  args.x = in;
  args.eps = eps;
  return truth::rms_norm_forward(args);
}

struct Errors {
  double worst_ulp = 0;
  int measured = 0;
  int nan_rows = 0;
  int zero_rows = 0;
};

void measure(const Row& y, const truth::Forward& exact, Errors& errors) {
  if (!std::all_of(y.begin(), y.end(), [](float v) { return std::isfinite(v); })) {
    ++errors.nan_rows;
    return;
  }
  const bool zeros = std::all_of(y.begin(), y.end(), [](float v) { return v == 0; });
  const bool truly_zero =
      std::all_of(exact.y.begin(), exact.y.end(), [](const truth::Value& v) { return v.hi == 0; });
  if (zeros && !truly_zero) {
    ++errors.zero_rows;
    return;
  }
  const truth::Value unit = truth::scale_ulp(exact.scale[0], DType::f32);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double error = truth::error(y[i], DType::f32, exact.y[i], unit);
    errors.worst_ulp = std::max(errors.worst_ulp, error);
  }
  ++errors.measured;
}

Json to_json(double at, const Errors& errors) {
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
  const auto normals = normal_rows();
  for (const double at : sweep.at) {
    std::vector<Errors> errors(entrants.size());
    for (const std::vector<double>& normal : normals) {
      Row x, y(kColumns);
      for (const double value : normal) x.push_back(sweep.input(value, at));
      const truth::Forward exact = truth_of(x, sweep.eps, sweep.operation);
      for (std::size_t i = 0; i < entrants.size(); ++i) {
        entrants[i].run(x, sweep.eps, sweep.operation, y);
        measure(y, exact, errors[i]);
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
