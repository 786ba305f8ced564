#include "lab/evidence/record.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lab/error.hpp"
#include "lab/experiment/json_file.hpp"
#include "lab/experiment/run_store.hpp"

namespace equinorm::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

void put(Record& record, const std::string& name, double value) {
  if (std::isfinite(value)) record.metrics[name] = value;
}

template <class Value>
void put(Record& record, const std::string& name, const std::optional<Value>& value) {
  if (value) put(record, name, static_cast<double>(*value));
}

/// Steps whose loss is above the median of the (at most 50) steps before them by more than 6 of
/// their median absolute deviations. The first 10 steps have too little before them to tell.
void put_spikes(Record& record, const std::vector<TrainPoint>& train) {
  constexpr std::ptrdiff_t kMostBefore = 50;
  constexpr std::ptrdiff_t kLeastBefore = 10;
  Curve& spikes = record.series["spikes"];
  for (auto point = train.begin(); point != train.end(); ++point) {
    const std::ptrdiff_t before = std::min(point - train.begin(), kMostBefore);
    if (before < kLeastBefore) continue;
    std::vector<double> losses;
    for (auto earlier = point - before; earlier != point; ++earlier)
      losses.push_back(earlier->loss);
    const double middle = median(losses);
    std::vector<double> deviations;
    for (const double loss : losses) deviations.push_back(std::fabs(loss - middle));
    if (point->loss > middle + 6 * median(deviations)) {
      spikes.emplace_back(point->step, point->loss);
    }
  }
  put(record, "spikes", static_cast<double>(spikes.size()));
}

/// 99th percentile of the gradient norms over their median.
void put_gradient_spread(Record& record, const std::vector<TrainPoint>& train) {
  std::vector<double> norms;
  for (const TrainPoint& point : train) {
    if (std::isfinite(point.grad_norm)) norms.push_back(point.grad_norm);
  }
  if (norms.empty()) return;
  std::sort(norms.begin(), norms.end());
  const auto rank = static_cast<std::size_t>(std::ceil(0.99 * static_cast<double>(norms.size())));
  const double middle = median(norms);
  if (middle > 0) put(record, "grad_p99_over_median", norms[rank - 1] / middle);
}

/// The greatest number of the layers; NaN without any.
double greatest(const LayerSample& sample, const std::string& name) {
  double most = kNotANumber;
  const auto found = sample.by_layer.find(name);
  if (found == sample.by_layer.end()) return most;
  for (const double value : found->second) most = std::fmax(most, value);
  return most;
}

/// NaN where no layer has one.
double mean_over_layers(const LayerSample& sample, const std::string& name) {
  const auto found = sample.by_layer.find(name);
  if (found == sample.by_layer.end()) return kNotANumber;
  double sum = 0;
  double count = 0;
  for (const double value : found->second) {
    if (!std::isfinite(value)) continue;
    sum += value;
    count += 1;
  }
  return sum / count;
}

/// docs/lab.md says which of them are taken over all samples; the others are those of the last.
void put_instruments(Record& record, const std::vector<LayerSample>& samples) {
  std::vector<double> update_ratios;
  double smallest_variance = kNotANumber;
  double near_eps = kNotANumber;
  for (const LayerSample& sample : samples) {
    const auto curve = [&](const std::string& name, double value) {
      if (std::isfinite(value)) record.series[name].emplace_back(sample.step, value);
    };
    curve("update_ratio", sample.update_ratio);
    curve("alpha", mean_over_layers(sample, "alpha"));
    curve("growth_exponent", sample.growth_exponent);
    curve("logsumexp", sample.logsumexp);
    if (std::isfinite(sample.update_ratio)) update_ratios.push_back(sample.update_ratio);
    near_eps = std::fmax(near_eps, greatest(sample, "rows_near_eps"));
    const auto variances = sample.by_layer.find("smallest_row_variance");
    if (variances == sample.by_layer.end()) continue;
    for (const double v : variances->second) smallest_variance = std::fmin(smallest_variance, v);
  }
  put(record, "smallest_row_variance", smallest_variance);
  put(record, "rows_near_eps", near_eps);
  if (!update_ratios.empty()) put(record, "update_ratio_median", median(update_ratios));
  const LayerSample& last = samples.back();
  const auto variances = last.by_layer.find("smallest_row_variance");
  if (variances != last.by_layer.end() && !variances->second.empty()) {
    put(record, "row_variance_last_over_first",
        variances->second.back() / variances->second.front());
  }
  for (const char* name :
       {"outlier_dimensions", "gamma_drift", "batch_mean_gap", "batch_variance_gap"}) {
    put(record, name, greatest(last, name));
  }
  if (!last.activation_rms.empty()) put(record, "activation_rms", last.activation_rms.back());
  put(record, "alpha", mean_over_layers(last, "alpha"));
  put(record, "growth_exponent", last.growth_exponent);
  put(record, "logsumexp", last.logsumexp);
}

/// A run that got to its end without reaching the target counts as reaching it one evaluation
/// later: without a number the slowest runs would drop out.
void put_target(Record& record, const Run& run) {
  if (run.config.target <= 0 || record.broke()) return;
  const bool reached = run.result.steps_to_target.has_value();
  put(record, "reached_target", reached ? 1 : 0);
  put(record, "steps_to_target",
      reached ? *run.result.steps_to_target : run.config.steps + run.config.eval_every);
}

/// The first update is about proportional to the rate of its step, which differs between arms.
void put_first_update(Record& record, const Run& run) {
  const double change = record.metric("first_update_change");
  if (!run.train.empty() && run.train.front().learning_rate > 0) {
    put(record, "first_update_change_per_rate", change / run.train.front().learning_rate);
  }
}

/// Layers count from 1; those without a finite number are left out.
Curve over_layers(const std::vector<double>& values) {
  Curve curve;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) curve.emplace_back(i + 1, values[i]);
  }
  return curve;
}

Curve gradients_of(const LayerSample& sample) {
  std::vector<double> totals;
  for (const LayerGradients& layer : sample.layers) totals.push_back(layer.total);
  return over_layers(totals);
}

/// What is sampled of each layer, at every sample, and as a series that of the last one.
void put_samples(Record& record, const std::vector<LayerSample>& samples) {
  for (const LayerSample& sample : samples) {
    const auto put_curve = [&](const std::string& name, Curve curve) {
      record.sampled[name][sample.step] = std::move(curve);
    };
    put_curve("layer_gradients", gradients_of(sample));
    put_curve("layer_rms", over_layers(sample.activation_rms));
    put_curve("layer_max", over_layers(sample.activation_max));
    put_curve("branch_ratio", over_layers(sample.branch_ratio));
    for (const auto& [name, values] : sample.by_layer) {
      put_curve("layer_" + name, over_layers(values));
    }
  }
  for (const auto& [name, steps] : record.sampled) record.series[name] = steps.rbegin()->second;
}

void put_layers(Record& record, const std::vector<LayerSample>& samples) {
  if (samples.empty()) return;
  put_samples(record, samples);
  put_instruments(record, samples);
  const LayerSample& first = samples.front();
  record.series["layer_gradients_first"] = gradients_of(first);
  record.series["layer_gradients_last"] = gradients_of(samples.back());
  if (first.layers.empty()) return;
  const double top = first.layers.back().total;
  const double bottom = first.layers.front().total;
  put(record, "top_gradient_start", top);
  if (bottom > 0) put(record, "gradient_ratio_start", top / bottom);
}

void put_times(Record& record, const RunTiming& timing) {
  const TimeSplit& split = timing.time_split;
  put(record, "ms_per_step", timing.ms_per_step);
  put(record, "norm_ms", timing.ms_per_step * split.norm);
  put(record, "attention_ms", timing.ms_per_step * split.attention);
  put(record, "ffn_ms", timing.ms_per_step * split.ffn);
  put(record, "optimizer_ms", timing.ms_per_step * split.optimizer);
  put(record, "other_ms", timing.ms_per_step * split.other);
  put(record, "tokens_per_second", timing.tokens_per_second);
  put(record, "seconds_to_target", timing.seconds_to_target);
}

Record training_record(const Run& run) {
  Record record;
  record.failure = run.result.failure;
  put(record, "loss", run.result.final_loss);
  put(record, "accuracy", run.result.final_accuracy);
  put(record, "initial_loss", run.result.initial_loss);
  put(record, "best_loss", run.result.best_loss);
  put(record, "plateau", run.result.plateau);
  put(record, "capped_loss",
      std::isfinite(run.result.final_loss)
          ? std::min(run.result.final_loss, run.result.initial_loss)
          : run.result.initial_loss);
  put_target(record, run);
  put_times(record, run.timing);
  put(record, "max_grad_norm", run.result.max_grad_norm);
  put(record, "median_grad_norm", run.result.median_grad_norm);
  put(record, "clipped_share", run.result.clipped_share);
  put_spikes(record, run.train);
  for (const EvalPoint& point : run.evals) {
    record.series["loss"].emplace_back(point.step, point.loss);
    if (point.accuracy) record.series["accuracy"].emplace_back(point.step, *point.accuracy);
  }
  record.notes = run.result.notes;
  put_gradient_spread(record, run.train);
  put_layers(record, run.layers);
  for (const auto& [name, value] : run.result.metrics) put(record, name, value);
  put_first_update(record, run);
  return record;
}

Record measurement_record(const Json& result) {
  Record record;
  for (const auto& [name, value] : result.at("metrics").items()) {
    if (value.is_number()) put(record, name, value.get<double>());
  }
  for (const auto& [name, points] : result.at("series").items()) {
    Curve& curve = record.series[name];
    for (const Json& point : points) {
      const Json& y = point.at(1);
      curve.emplace_back(point.at(0).get<double>(), y.is_null() ? kNotANumber : y.get<double>());
    }
  }
  return record;
}

}  // namespace

double Record::metric(const std::string& name) const {
  const auto found = metrics.find(name);
  return found == metrics.end() ? kNotANumber : found->second;
}

Record load_record(const fs::path& run_dir) {
  const fs::path path = run_dir / "result.json";
  const Json result = read_json(path);
  const Json config = read_json(run_dir / "config.json");
  if (!config.contains("measurement")) return training_record(load_run(run_dir));
  return with_place(path.string(), [&] { return measurement_record(result); });
}

bool is_finished_job(const Job& job, const fs::path& run_dir) {
  if (!is_finished(run_dir)) return false;
  try {
    static_cast<void>(load_record(run_dir));
    Json found = read_json(run_dir / "config.json");
    Json asked = Json::parse(job.config);
    // A path does not decide a curve; the data's checksum does.
    for (Json* config : {&found, &asked}) {
      if (!config->value("source_sha256", "").empty()) config->erase("source");
    }
    return found == asked;
  } catch (const InputError&) {
    return false;  // damaged: it starts over
  }
}

}  // namespace equinorm::lab
