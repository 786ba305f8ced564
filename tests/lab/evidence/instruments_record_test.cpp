// From the "layers" events of a run to metrics and series of a record.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "../experiment/synthetic_runs.hpp"
#include "lab/evidence/known_metrics.hpp"
#include "lab/evidence/record.hpp"
#include "made_up.hpp"

namespace equinorm::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// Two layers at steps 1 and 2.
constexpr const char* kMetrics =
    R"({"event":"eval","step":0,"loss":2.5,"accuracy":0.1}
{"event":"train","step":1,"loss":2.25,"grad_norm":3.5,"clipped":true,"learning_rate":0.0005}
{"event":"layers","step":1,"grad_norm":{"embedding":1.0,"final_norm":null,"head":2.0,"layers":[]},"activation_rms":[],"activation_max":[],"branch_ratio":[],"growth_exponent":0.5,"smallest_row_variance":[0.25,4.0],"rows_near_eps":[0.0,0.75],"outlier_dimensions":[9.0,9.0],"logsumexp":3.0,"update_ratio":{"layers":[],"total":0.5}}
{"event":"train","step":2,"loss":2.0,"grad_norm":1.0,"clipped":false,"learning_rate":0.001}
{"event":"layers","step":2,"grad_norm":{"embedding":1.0,"final_norm":null,"head":2.0,"layers":[]},"activation_rms":[1.0,2.0],"activation_max":[],"branch_ratio":[],"growth_exponent":null,"smallest_row_variance":[1.0,null],"rows_near_eps":[0.5,0.0],"outlier_dimensions":[1.0,2.0],"batch_mean_gap":[null,null],"attention_entropy":[[1.0,3.0],[]],"gamma_drift":[0.125,0.0625],"alpha":[0.5,null],"logsumexp":4.0,"update_ratio":{"layers":[{"qkv":1.0,"total":0.25},{"total":0.125}],"total":0.25}}
{"event":"eval","step":2,"loss":1.5,"accuracy":null}
)";

TEST(InstrumentRecord, HasMetricsOverSamplesAndSeriesOverLayersAndSteps) {
  const TemporaryDirectory out;
  const RunConfig config = testing::make_config("bible", "layer", "pre", 1e-3, 0);
  const auto dir = out.path() / "runs" / testing::write_run(out.path(), config, {});
  write_atomically(dir / "metrics.jsonl", kMetrics);
  const Record record = load_record(dir);
  EXPECT_EQ(record.metric("smallest_row_variance"), 0.25);
  EXPECT_TRUE(std::isnan(record.metric("row_variance_last_over_first")));  // the last has none
  EXPECT_EQ(record.metric("rows_near_eps"), 0.75);
  EXPECT_EQ(record.metric("update_ratio_median"), 0.375);
  EXPECT_EQ(record.metric("outlier_dimensions"), 2.0);
  EXPECT_EQ(record.metric("gamma_drift"), 0.125);
  EXPECT_EQ(record.metric("activation_rms"), 2.0);  // of the last layer
  EXPECT_EQ(record.metric("alpha"), 0.5);
  EXPECT_EQ(record.metric("logsumexp"), 4.0);
  EXPECT_TRUE(std::isnan(record.metric("batch_mean_gap")));
  EXPECT_TRUE(std::isnan(record.metric("growth_exponent")));
  EXPECT_THAT(record.series.at("layer_attention_entropy"), ElementsAre(Pair(1, 2)));
  EXPECT_THAT(record.series.at("layer_smallest_row_variance"), ElementsAre(Pair(1, 1)));
  EXPECT_THAT(record.series.at("layer_update_ratio"), ElementsAre(Pair(1, 0.25), Pair(2, 0.125)));
  EXPECT_THAT(record.series.at("alpha"), ElementsAre(Pair(2, 0.5)));
  EXPECT_THAT(record.series.at("logsumexp"), ElementsAre(Pair(1, 3), Pair(2, 4)));
  EXPECT_THAT(record.series.at("growth_exponent"), ElementsAre(Pair(1, 0.5)));
}

TEST(InstrumentRecord, ComparesRowVariancesOfTheLastAndTheFirstLayer) {
  const TemporaryDirectory out;
  const RunConfig config = testing::make_config("bible", "layer", "pre", 1e-3, 0);
  const auto dir = out.path() / "runs" / testing::write_run(out.path(), config, {});
  std::string text = kMetrics;
  text.replace(text.find("[1.0,null]"), 10, "[2.0,0.5]");
  write_atomically(dir / "metrics.jsonl", text);
  EXPECT_EQ(load_record(dir).metric("row_variance_last_over_first"), 0.25);
}

TEST(InstrumentRecord, HasSeriesOverLayersOfEverySample) {
  const TemporaryDirectory out;
  const RunConfig config = testing::make_config("bible", "layer", "pre", 1e-3, 0);
  const auto dir = out.path() / "runs" / testing::write_run(out.path(), config, {});
  write_atomically(dir / "metrics.jsonl", kMetrics);
  const Record record = load_record(dir);
  const auto& variances = record.sampled.at("layer_smallest_row_variance");
  EXPECT_THAT(variances.at(1), ElementsAre(Pair(1, 0.25), Pair(2, 4)));
  EXPECT_THAT(variances.at(2), ElementsAre(Pair(1, 1)));
  EXPECT_THAT(record.sampled.at("layer_rms").at(2), ElementsAre(Pair(1, 1), Pair(2, 2)));
  EXPECT_THAT(record.series.at("layer_rms"), ElementsAre(Pair(1, 1), Pair(2, 2)));
}

TEST(Target, OfARunThatNeverReachedItIsOneEvaluationBehindItsEnd) {
  const TemporaryDirectory out;
  RunConfig config = testing::make_config("bible", "layer", "pre", 1e-3, 0);
  const auto record_of = [&](const testing::Ending& ending) {
    return load_record(out.path() / "runs" / testing::write_run(out.path(), config, ending));
  };
  testing::Ending ending;
  EXPECT_EQ(record_of(ending).metric("reached_target"), 0);
  EXPECT_EQ(record_of(ending).metric("steps_to_target"), config.steps + config.eval_every);
  ending.steps_to_target = 1;
  EXPECT_EQ(record_of(ending).metric("reached_target"), 1);
  EXPECT_EQ(record_of(ending).metric("steps_to_target"), 1);
  ending = {};
  ending.failure = "blow-up";
  EXPECT_TRUE(std::isnan(record_of(ending).metric("steps_to_target")));
  config.target = 0;
  EXPECT_TRUE(std::isnan(record_of({}).metric("steps_to_target")));
}

TEST(Spikes, AreLossesAboveTheStepsBeforeThem) {
  const TemporaryDirectory out;
  RunConfig config = testing::make_config("bible", "layer", "pre", 1e-3, 0);
  config.steps = 120;
  config.eval_every = 120;
  const auto dir = out.path() / "runs" / testing::write_run(out.path(), config, {});
  const std::map<int, double> peaks = {{5, 9.0}, {80, 3.0}, {81, 2.9}};
  // Falls from 4 to 2 with a small ripple, but for the peaks.
  const auto loss = [&](int step) {
    const auto peak = peaks.find(step);
    return peak != peaks.end() ? peak->second : 2 + 2 * std::exp(-step / 20.0) + step % 3 * 0.01;
  };
  write_atomically(dir / "metrics.jsonl", testing::metrics_text(120, loss));
  const Record record = load_record(dir);
  // Step 5 has too few before it; 3 is no more than the first losses but is a spike at 80.
  EXPECT_THAT(record.series.at("spikes"), ElementsAre(Pair(80, 3.0), Pair(81, 2.9)));
  EXPECT_EQ(record.metric("spikes"), 2);
}

TEST(InstrumentRecord, OfARunFromBeforeTheInstrumentsHasNone) {
  const TemporaryDirectory out;
  const RunConfig config = testing::make_config("bible", "layer", "pre", 1e-3, 0);
  const Record record =
      load_record(out.path() / "runs" / testing::write_run(out.path(), config, {}));
  EXPECT_EQ(record.metrics.count("logsumexp"), 0U);
  EXPECT_EQ(record.series.count("layer_gamma_drift"), 0U);
}

TEST(InstrumentRecord, IsKnownToDeclarations) {
  const auto check = [](const std::string& metric, const std::string& series) {
    const Declaration declaration = parse_declaration(
        R"(id = "T"
title = "t"
question = "q"
metric = ")" +
            metric + R"("
learning_rates = [1e-3]
[base]
task = "bible"
[[arm]]
name = "pre"
[[figure]]
title = "f"
y = ")" + series +
            "\"\n",
        "T.toml");
    check_metrics(declaration, testing::made_up_kinds());
  };
  check("gamma_drift", "layer_update_ratio");
  check("smallest_row_variance", "logsumexp");
  EXPECT_THROW(check("drift_of_gamma", "logsumexp"), InputError);
}

}  // namespace
}  // namespace equinorm::lab
