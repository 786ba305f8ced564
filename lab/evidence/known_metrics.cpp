#include "lab/evidence/known_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lab/error.hpp"
#include "lab/evidence/place_in.hpp"
#include "lab/experiment/run_store.hpp"
#include "lab/nearest.hpp"

namespace equinorm::lab {
namespace {

/// Names by what they stand for.
using Known = std::map<MetricKind, std::set<std::string>>;

// docs/lab.md lists them: of every training run, and over the rates of each seed.
constexpr const char* kTrainingMetrics[] = {
    "loss",
    "initial_loss",
    "best_loss",
    "capped_loss",
    "plateau",
    "steps_to_target",
    "reached_target",
    "seconds_to_target",
    "max_grad_norm",
    "clipped_share",
    "median_grad_norm",
    "ms_per_step",
    "tokens_per_second",
    "norm_ms",
    "attention_ms",
    "ffn_ms",
    "optimizer_ms",
    "other_ms",
    "grad_p99_over_median",
    "top_gradient_start",
    "gradient_ratio_start",
    "spikes",
    "sensitivity",
    "best_learning_rate",
    "failed",
    "cannot_train",
};

constexpr const char* kInstrumentMetrics[] = {
    "smallest_row_variance", "rows_near_eps",      "update_ratio_median",
    "gamma_drift",           "outlier_dimensions", "batch_mean_gap",
    "batch_variance_gap",    "activation_rms",     "alpha",
    "growth_exponent",       "logsumexp",          "row_variance_last_over_first",
};

constexpr const char* kProbeMetrics[] = {"first_update_change", "first_update_change_per_rate",
                                         "max_logit",           "attention_entropy",
                                         "collapsed_heads",     "mode_gap",
                                         "input_moment_ratio"};

constexpr const char* kTrainingSeries[] = {"loss", "layer_gradients_first", "layer_gradients_last",
                                           "spikes"};

// With `layer_` and the names of kLayerInstruments: of each layer at each sample, and as series at
// the last one.
constexpr const char* kSampledSeries[] = {"layer_gradients", "layer_rms", "layer_max",
                                          "branch_ratio"};

constexpr const char* kRoundingMetrics[] = {"overflow_share", "underflow_share",
                                            "silent_zero_share"};

constexpr const char* kLossScaleMetrics[] = {"skipped_steps", "loss_scale"};

// Over the steps.
constexpr const char* kInstrumentSeries[] = {"update_ratio", "alpha", "growth_exponent",
                                             "logsumexp"};

struct TaskMetric {
  const char* task;
  const char* name;
  bool of_training = true;  ///< otherwise known before it
};

// What a task's learner adds; docs/tasks.md lists it. Every task but one has an accuracy.
constexpr TaskMetric kTaskMetrics[] = {
    {"fashion-mnist", "parameters", false},
    {"idx", "parameters", false},
    {"translation", "chrf"},
    {"translation", "bleu"},
    {"translation", "statistics_gap"},
    {"translation", "loss_to_12"},
    {"translation", "loss_13_to_20"},
    {"translation", "loss_21_to_32"},
    {"translation", "length_gap"},
    {"packages", "macro_f1"},
    {"digits", "noise_error"},
    {"digits", "sample_accuracy"},
    {"digits", "classifier_accuracy", false},
    {"digits", "parameters", false},
    {"adding", "squared_error"},
};

std::string text_of(const Json& fields, const char* field, const std::string& fallback) {
  const auto found = fields.find(field);
  return found != fields.end() && found->is_string() ? found->get<std::string>() : fallback;
}

void add_training(const Json& fields, Known& known) {
  const std::string task = text_of(fields, "task", RunConfig{}.task);
  std::set<std::string>& metrics = known[MetricKind::number];
  std::set<std::string>& series = known[MetricKind::series];
  metrics.insert(std::begin(kTrainingMetrics), std::end(kTrainingMetrics));
  metrics.insert(std::begin(kInstrumentMetrics), std::end(kInstrumentMetrics));
  series.insert(std::begin(kTrainingSeries), std::end(kTrainingSeries));
  series.insert(std::begin(kInstrumentSeries), std::end(kInstrumentSeries));
  std::set<std::string>& sampled = known[MetricKind::sampled];
  sampled.insert(std::begin(kSampledSeries), std::end(kSampledSeries));
  for (const char* name : kLayerInstruments) sampled.insert(std::string("layer_") + name);
  series.insert(sampled.begin(), sampled.end());
  if (task != "digits") {
    metrics.insert("accuracy");
    series.insert("accuracy");
  }
  for (const TaskMetric& metric : kTaskMetrics) {
    if (task == metric.task) metrics.insert(metric.name);
  }
  const std::string precision = text_of(fields, "precision", RunConfig{}.precision);
  if (precision != RunConfig{}.precision && precision != "bf16_autocast") {
    metrics.insert(std::begin(kRoundingMetrics), std::end(kRoundingMetrics));
  }
  if (const Json scale = fields.value("loss_scale", Json(0)); scale.is_number() && scale > 0) {
    metrics.insert(std::begin(kLossScaleMetrics), std::end(kLossScaleMetrics));
  }
  if (fields.value("probes", Json(false)) == Json(true)) {
    metrics.insert(std::begin(kProbeMetrics), std::end(kProbeMetrics));
  }
}

void add_measurement(const std::string& name, const RunKinds& kinds, Known& known) {
  for (const Measurement& measurement : kinds.measurements) {
    if (name != measurement.name) continue;
    known[MetricKind::number].insert(measurement.metrics.begin(), measurement.metrics.end());
    known[MetricKind::series].insert(measurement.series.begin(), measurement.series.end());
  }
}

Known known_of(const Declaration& declaration, const RunKinds& kinds) {
  Known known;
  for (const auto& [name, tier] : declaration.tiers) {
    Json base = declaration.base;
    base.update(tier.base);
    for (const Point& point : points_of(axes_of(declaration, tier))) {
      for (const ArmSpec& arm : declaration.arms) {
        Json fields = base;
        fields.update(arm.fields);
        for (const auto& [field, value] : point) fields[field] = value;
        if (fields.contains("measurement")) {
          add_measurement(text_of(fields, "measurement", ""), kinds, known);
        } else {
          add_training(fields, known);
        }
      }
    }
  }
  return known;
}

}  // namespace

std::set<std::string> metrics_of(const Declaration& declaration, const RunKinds& kinds) {
  return known_of(declaration, kinds)[MetricKind::number];
}

bool is_end_of_training(const std::string& metric) {
  const auto is_it = [&](const TaskMetric& known) {
    return known.of_training && metric == known.name;
  };
  return metric == "loss" || metric == "best_loss" || metric == "accuracy" ||
         std::any_of(std::begin(kTaskMetrics), std::end(kTaskMetrics), is_it);
}

void check_metrics(const Declaration& declaration, const RunKinds& kinds) {
  Known known = known_of(declaration, kinds);
  for (const NamedMetric& named : declaration.named_metrics) {
    const std::set<std::string>& names = known[named.kind];
    if (names.count(named.name) > 0) continue;
    const std::string what = named.kind == MetricKind::number   ? "metric"
                             : named.kind == MetricKind::series ? "series"
                                                                : "series over steps";
    throw InputError(fmt::format("{}: {} = '{}': {}", place_in(declaration.file, named.line),
                                 named.key, named.name,
                                 one_of("no run gives this " + what + "; known are", named.name,
                                        {names.begin(), names.end()})));
  }
}

}  // namespace equinorm::lab
