// Every declaration that comes with the program can be planned in every tier, and every experiment
// without training can be run.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <set>

#include "lab/evidence/lab_folder.hpp"
#include "lab/evidence/plan.hpp"
#include "lab/measurements/measurements.hpp"
#include "lab/train.hpp"

namespace equinorm::lab {
namespace {

const RunKinds kKinds{validate, measurements()};

TEST(BuiltinDeclarations, CanBePlannedInEveryTier) {
  for (const Declaration& declaration : builtin_declarations()) {
    for (const std::string& tier : tier_names()) {
      LabRequest request;
      request.tier = tier;
      // One of tables alone has no runs of its own.
      EXPECT_EQ(plan_experiment(declaration, request, kKinds).empty(), declaration.arms.empty())
          << declaration.id;
    }
  }
}

MeasurementResult run(const PlannedRun& planned) {
  const Json config = Json::parse(planned.job.config);
  Parameters parameters(config.at("parameters"));
  const Measurement& measurement =
      measurement_named(kKinds.measurements, config.at("measurement").get<std::string>());
  MeasurementResult result = measurement.prepare(parameters)(planned.seed);
  check_declared(measurement, result);
  return result;
}

TEST(Measurements, GiveTheMetricsThatTheirDeclarationsAskForAndTheSameTwice) {
  at::set_num_threads(1);
  for (const Declaration& declaration : builtin_declarations()) {
    if (declaration.id == "E3") continue;  // times differ
    std::set<std::string> arms;
    for (const PlannedRun& planned : plan_experiment(declaration, {}, kKinds)) {
      if (planned.config || !arms.insert(planned.arm).second) continue;  // one run per arm
      const MeasurementResult result = run(planned);
      EXPECT_FALSE(result.metrics.empty()) << planned.job.id;
      EXPECT_EQ(to_json(result), to_json(run(planned))) << planned.job.id;
      for (const VerdictRule& rule : declaration.rules) {
        for (const Condition& condition : rule.require) {
          if (condition.arm != planned.arm) continue;
          EXPECT_EQ(result.metrics.count(condition.metric), 1u)
              << declaration.id << " " << condition.metric;
        }
      }
    }
  }
}

}  // namespace
}  // namespace equinorm::lab
