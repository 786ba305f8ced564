#include "lab/evidence/known_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lab/error.hpp"
#include "lab/experiment/run_store.hpp"

namespace equinorm::lab {
namespace {

struct Known {
  std::set<std::string> metrics;
  std::set<std::string> series;
};

// docs/lab.md lists them: of every training run, and over the rates of each seed.
constexpr const char* kTrainingMetrics[] = {
    "loss",          "initial_loss",         "best_loss",          "capped_loss",
    "plateau",       "steps_to_target",      "seconds_to_target",  "max_grad_norm",
    "clipped_share", "median_grad_norm",     "ms_per_step",        "tokens_per_second",
    "norm_ms",       "grad_p99_over_median", "top_gradient_start", "gradient_ratio_start",
    "spikes",        "sensitivity",          "best_learning_rate", "failed",
    "cannot_train",
};

constexpr const char* kInstrumentMetrics[] = {
    "smallest_row_variance", "rows_near_eps",      "update_ratio_median",
    "gamma_drift",           "outlier_dimensions", "batch_mean_gap",
    "batch_variance_gap",    "growth_exponent",    "logsumexp",
};

constexpr const char* kProbeMetrics[] = {"first_update_change", "max_logit", "attention_entropy",
                                         "collapsed_heads", "mode_gap"};

constexpr const char* kTrainingSeries[] = {"loss", "layer_gradients_first", "layer_gradients_last",
                                           "layer_rms"};

// Over the steps; kLayerInstruments are series over the layers.
constexpr const char* kInstrumentSeries[] = {"update_ratio", "growth_exponent", "logsumexp"};

struct TaskMetric {
  const char* task;
  const char* name;
};

// What a task's learner adds; docs/tasks.md lists it. Every task but one has an accuracy.
constexpr TaskMetric kTaskMetrics[] = {
    {"fashion-mnist", "parameters"},   {"idx", "parameters"},
    {"translation", "chrf"},           {"translation", "bleu"},
    {"translation", "statistics_gap"}, {"translation", "loss_to_12"},
    {"translation", "loss_13_to_20"},  {"translation", "loss_21_to_32"},
    {"translation", "length_gap"},     {"packages", "macro_f1"},
    {"digits", "noise_error"},         {"digits", "sample_accuracy"},
    {"digits", "classifier_accuracy"}, {"digits", "parameters"},
    {"adding", "squared_error"},
};

std::string text_of(const Json& fields, const char* field, const std::string& fallback) {
  const auto found = fields.find(field);
  return found != fields.end() && found->is_string() ? found->get<std::string>() : fallback;
}

void add_training(const Json& fields, Known& known) {
  const std::string task = text_of(fields, "task", RunConfig{}.task);
  known.metrics.insert(std::begin(kTrainingMetrics), std::end(kTrainingMetrics));
  known.metrics.insert(std::begin(kInstrumentMetrics), std::end(kInstrumentMetrics));
  known.series.insert(std::begin(kTrainingSeries), std::end(kTrainingSeries));
  known.series.insert(std::begin(kInstrumentSeries), std::end(kInstrumentSeries));
  for (const char* name : kLayerInstruments) known.series.insert(std::string("layer_") + name);
  if (task != "digits") {
    known.metrics.insert("accuracy");
    known.series.insert("accuracy");
  }
  for (const TaskMetric& metric : kTaskMetrics) {
    if (task == metric.task) known.metrics.insert(metric.name);
  }
  if (fields.value("probes", Json(false)) == Json(true)) {
    known.metrics.insert(std::begin(kProbeMetrics), std::end(kProbeMetrics));
  }
}

void add_measurement(const std::string& name, const RunKinds& kinds, Known& known) {
  for (const Measurement& measurement : kinds.measurements) {
    if (name != measurement.name) continue;
    known.metrics.insert(measurement.metrics.begin(), measurement.metrics.end());
    known.series.insert(measurement.series.begin(), measurement.series.end());
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

void check_metrics(const Declaration& declaration, const RunKinds& kinds) {
  const Known known = known_of(declaration, kinds);
  for (const NamedMetric& named : declaration.named_metrics) {
    const std::set<std::string>& names = named.is_series ? known.series : known.metrics;
    if (names.count(named.name) > 0) continue;
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    const char* what = named.is_series ? "series" : "metric";
    throw InputError(fmt::format("{}:{}: {} = '{}': no run gives this {}; known are {}",
                                 declaration.file, named.line, named.key, named.name, what, all));
  }
}

}  // namespace equinorm::lab
