#include "lab/evidence/metric_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace equinorm::lab {
namespace {

struct MetricWords {
  const char* name;
  const char* title;
  double scale;  ///< what values are multiplied by before they are written
  int digits;    ///< behind the point; -1: three significant ones
  const char* unit;
  const char* difference_unit;
};

constexpr MetricWords kMetrics[] = {
    {"accuracy", "accuracy", 100, 1, " %", " points"},
    {"loss", "held-out loss, nats", 1, 3, "", " nats"},
    {"best_loss", "lowest held-out loss, nats", 1, 3, "", " nats"},
    {"steps_to_target", "steps to the target", 1, 0, "", " steps"},
    {"sensitivity", "sensitivity to the rate, nats", 1, 3, "", " nats"},
    {"best_learning_rate", "log10 of the best rate", 1, 2, "", ""},
    {"failed", "failed runs, all rates", 100, 0, " %", " points"},
    {"cannot_train", "seeds that no rate trains", 100, 0, " %", " points"},
    {"ms_per_step", "time per step, ms", 1, 2, "", " ms"},
    {"norm_ms", "time per step in norms, ms", 1, 2, "", " ms"},
    {"attention_ms", "time per step in attention, ms", 1, 2, "", " ms"},
    {"ffn_ms", "time per step in feed-forward layers, ms", 1, 2, "", " ms"},
    {"optimizer_ms", "time per step in the optimizer, ms", 1, 2, "", " ms"},
    {"other_ms", "time per step elsewhere, ms", 1, 2, "", " ms"},
    {"ns_per_row", "time per row, ns", 1, -1, "", " ns"},
    {"max_grad_norm", "largest gradient norm", 1, -1, "", ""},
    {"spikes", "loss spikes", 1, 1, "", ""},
    {"chrf", "chrF", 1, 1, "", ""},
    {"bleu", "BLEU-4", 1, 2, "", ""},
    {"macro_f1", "macro F1", 100, 1, " %", " points"},
    {"noise_error", "squared error of the noise", 1, 3, "", ""},
    {"squared_error", "squared error", 1, 3, "", ""},
    {"sample_accuracy", "samples of the right class", 100, 1, " %", " points"},
    {"classifier_accuracy", "classifier's accuracy", 100, 1, " %", " points"},
    {"parameters", "parameters", 1, 0, "", ""},
    {"statistics_gap", "cost of running statistics, nats", 1, 3, "", " nats"},
    {"length_gap", "loss at 13-32 words less that to 12, nats", 1, 3, "", " nats"},
    {"loss_to_12", "loss to 12 words, nats", 1, 3, "", " nats"},
    {"loss_13_to_20", "loss at 13-20 words, nats", 1, 3, "", " nats"},
    {"loss_21_to_32", "loss at 21-32 words, nats", 1, 3, "", " nats"},
    {"grad_p99_over_median", "gradient norm, p99 over median", 1, 2, "", ""},
    {"gradient_decades", "last over first gradient, log10", 1, 2, "", ""},
    {"first_update_change_per_rate", "change by the first update over its rate", 1, -1, "", ""},
    {"row_variance_last_over_first", "smallest row variance, last layer over first", 1, -1, "", ""},
    {"batch_change", "change by other samples", 1, -1, "", ""},
    {"padding_change", "change by padding", 1, -1, "", ""},
    {"later_token_change", "change by later tokens", 1, -1, "", ""},
    {"mode_change", "change from training to test", 1, -1, "", ""},
    {"median_grad_norm", "median gradient norm", 1, -1, "", ""},
};

const MetricWords* find_words(const std::string& metric) {
  const auto* const found = std::find_if(std::begin(kMetrics), std::end(kMetrics),
                                         [&](const MetricWords& m) { return metric == m.name; });
  return found == std::end(kMetrics) ? nullptr : found;
}

std::string number(const MetricWords* words, double value, const char* sign) {
  const double scaled = value * (words == nullptr ? 1 : words->scale);
  const bool plus = *sign != '\0';
  if (words == nullptr || words->digits < 0) {
    return plus ? fmt::format("{:+.3g}", scaled) : fmt::format("{:.3g}", scaled);
  }
  return plus ? fmt::format("{:+.{}f}", scaled, words->digits)
              : fmt::format("{:.{}f}", scaled, words->digits);
}

}  // namespace

std::string title_of_metric(const std::string& metric) {
  if (const MetricWords* words = find_words(metric)) return words->title;
  std::string title = metric;
  std::replace(title.begin(), title.end(), '_', ' ');
  return title;
}

std::string metric_value(const std::string& metric, double value) {
  if (!std::isfinite(value)) return "-";
  const MetricWords* words = find_words(metric);
  return number(words, value, "") + (words == nullptr ? "" : words->unit);
}

std::string metric_estimate(const std::string& metric, const Estimate& estimate) {
  if (estimate.n == 0) return "-";
  const MetricWords* words = find_words(metric);
  std::string text = metric_value(metric, estimate.mean);
  if (estimate.has_interval()) text += " +- " + number(words, estimate.half_width, "");
  return text + fmt::format(" (n = {})", estimate.n);
}

std::string share_text(const std::string& metric, const Proportion& share) {
  if (share.n == 0) return "-";
  return fmt::format("{} of {} ({} to {})", share.hits, share.n, metric_value(metric, share.low),
                     metric_value(metric, share.high));
}

std::string difference_interval(const std::string& metric, const ShareDifference& difference) {
  const MetricWords* words = find_words(metric);
  return fmt::format("{}{} ({} to {})", number(words, difference.mean, "+"),
                     words == nullptr ? "" : words->difference_unit,
                     number(words, difference.bounds.low, "+"),
                     number(words, difference.bounds.high, "+"));
}

std::string difference_estimate(const std::string& metric, const Estimate& estimate,
                                bool relative) {
  if (estimate.n == 0) return "-";
  if (relative) {
    std::string text = fmt::format("{:+.1f} %", 100 * estimate.mean);
    if (estimate.has_interval()) text += fmt::format(" +- {:.1f} %", 100 * estimate.half_width);
    return text;
  }
  const MetricWords* words = find_words(metric);
  std::string text = number(words, estimate.mean, "+");
  if (estimate.has_interval()) text += " +- " + number(words, estimate.half_width, "");
  return text + (words == nullptr ? "" : words->difference_unit);
}

}  // namespace equinorm::lab
