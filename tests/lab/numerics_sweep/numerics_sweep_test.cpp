// The numerics panel's data: ours keeps its bound everywhere, the textbook ways fail where they
// must, and the file says so.
#include "lab/numerics_sweep/numerics_sweep.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace equinorm::lab {
namespace {

using Json = nlohmann::json;

const Json& measured() {
  static const Json json = Json::parse(measure_numerics());
  return json;
}

const Json& series(const std::string& sweep, const std::string& algorithm) {
  for (const Json& candidate : measured().at("sweeps")) {
    if (candidate.at("name") != sweep) continue;
    for (const Json& entry : candidate.at("series")) {
      if (entry.at("algorithm") == algorithm) return entry.at("points");
    }
  }
  throw std::runtime_error("no series " + algorithm + " in " + sweep);
}

TEST(NumericsSweep, OursStaysWithinItsBoundAtEveryOffsetAndScale) {
  const double bound = measured().at("bound_ulp");
  for (const char* sweep : {"layer-norm-offset", "layer-norm-scale", "rms-norm-scale"}) {
    for (const Json& point : series(sweep, "equinorm")) {
      EXPECT_EQ(point.at("nan_rows"), 0) << sweep << " " << point;
      EXPECT_EQ(point.at("zero_rows"), 0) << sweep << " " << point;
      EXPECT_LE(point.at("ulp").get<double>(), bound) << sweep << " " << point;
    }
  }
}

TEST(NumericsSweep, TheOnePassVarianceLosesEverythingAtALargeOffset) {
  // At offset 2^12 the square of the mean is 2^24 spreads: f32 keeps no bit of the variance.
  for (const Json& point : series("layer-norm-offset", "one-pass")) {
    if (point.at("at").get<double>() < 1e4) continue;
    const bool lost = point.at("ulp").is_null() || point.at("ulp").get<double>() > 1e4 ||
                      point.at("nan_rows").get<int>() > 0;
    EXPECT_TRUE(lost) << point;
  }
}

TEST(NumericsSweep, SquaresInF32OverflowToZerosOrNaNAndUnderflowToNaN) {
  for (const char* sweep : {"layer-norm-scale", "rms-norm-scale"}) {
    for (const Json& point : series(sweep, "two-pass")) {
      // 768 squares of about 1e21 pass 3.4e38; those of 1e-24 are below 2^-149.
      if (point.at("at").get<double>() > 1e21) {
        EXPECT_EQ(point.at("zero_rows").get<int>() + point.at("nan_rows").get<int>(),
                  measured().at("rows").get<int>())
            << point;
      }
      if (point.at("at").get<double>() < 1e-24) {
        EXPECT_EQ(point.at("nan_rows"), measured().at("rows")) << point;
      }
    }
  }
}

TEST(NumericsSweep, EveryAlgorithmIsExactEnoughWhereNothingIsHard) {
  // Sums of 768 terms over 16 lanes: an error below 768 / 16 + 4 roundings.
  for (const char* algorithm : {"one-pass", "two-pass", "pytorch", "equinorm"}) {
    EXPECT_LE(series("layer-norm-offset", algorithm).at(0).at("ulp").get<double>(), 52)
        << algorithm;
  }
}

TEST(NumericsSweep, TheSameBuildGivesTheSameText) {
  EXPECT_EQ(measure_numerics(), measure_numerics());
}

}  // namespace
}  // namespace equinorm::lab
