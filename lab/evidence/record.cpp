#include "lab/evidence/record.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lab/data/files.hpp"
#include "lab/error.hpp"
#include "lab/experiment/run_store.hpp"

namespace equinorm::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

Json read_json(const fs::path& path) {
  try {
    return Json::parse(read_text_file(path));
  } catch (const Json::exception& error) {
    throw InputError(path.string() + ": " + error.what());
  }
}

void put(Record& record, const std::string& name, double value) {
  if (std::isfinite(value)) record.metrics[name] = value;
}

template <class Value>
void put(Record& record, const std::string& name, const std::optional<Value>& value) {
  if (value) put(record, name, static_cast<double>(*value));
}

/// Steps whose loss is above the median by more than 6 median absolute deviations.
double count_spikes(const std::vector<TrainPoint>& train) {
  std::vector<double> losses;
  for (const TrainPoint& point : train) losses.push_back(point.loss);
  const double middle = median(losses);
  std::vector<double> deviations;
  for (const double loss : losses) deviations.push_back(std::fabs(loss - middle));
  const double limit = middle + 6 * median(deviations);
  return static_cast<double>(
      std::count_if(losses.begin(), losses.end(), [limit](double loss) { return loss > limit; }));
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
  for (const auto& [name, values] : last.by_layer) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isfinite(values[i])) record.series["layer_" + name].emplace_back(i + 1, values[i]);
    }
  }
  for (const char* name :
       {"outlier_dimensions", "gamma_drift", "batch_mean_gap", "batch_variance_gap"}) {
    put(record, name, greatest(last, name));
  }
  put(record, "growth_exponent", last.growth_exponent);
  put(record, "logsumexp", last.logsumexp);
}

void put_layers(Record& record, const Run& run) {
  if (run.layers.empty()) return;
  const LayerSample& first = run.layers.front();
  const LayerSample& last = run.layers.back();
  const auto curve = [&record](const std::string& name, const LayerSample& sample) {
    for (std::size_t i = 0; i < sample.layers.size(); ++i) {
      record.series[name].emplace_back(i + 1, sample.layers[i].total);
    }
  };
  curve("layer_gradients_first", first);
  curve("layer_gradients_last", last);
  for (std::size_t i = 0; i < last.activation_rms.size(); ++i) {
    record.series["layer_rms"].emplace_back(i + 1, last.activation_rms[i]);
  }
  put_instruments(record, run.layers);
  if (first.layers.empty()) return;
  const double top = first.layers.back().total;
  const double bottom = first.layers.front().total;
  put(record, "top_gradient_start", top);
  if (bottom > 0) put(record, "gradient_ratio_start", top / bottom);
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
  put(record, "steps_to_target", run.result.steps_to_target);
  put(record, "seconds_to_target", run.timing.seconds_to_target);
  put(record, "max_grad_norm", run.result.max_grad_norm);
  put(record, "median_grad_norm", run.result.median_grad_norm);
  put(record, "clipped_share", run.result.clipped_share);
  put(record, "ms_per_step", run.timing.ms_per_step);
  put(record, "tokens_per_second", run.timing.tokens_per_second);
  put(record, "norm_ms", run.timing.ms_per_step * run.timing.time_split.norm);
  put(record, "spikes", count_spikes(run.train));
  for (const EvalPoint& point : run.evals) {
    record.series["loss"].emplace_back(point.step, point.loss);
    if (point.accuracy) record.series["accuracy"].emplace_back(point.step, *point.accuracy);
  }
  put_gradient_spread(record, run.train);
  put_layers(record, run);
  for (const auto& [name, value] : run.result.metrics) put(record, name, value);
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
  try {
    if (config.contains("measurement")) return measurement_record(result);
    return training_record(load_run(run_dir));
  } catch (const Json::exception& error) {
    throw InputError(path.string() + ": " + error.what());
  }
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
