// The figure over learning rates: how much an arm depends on its rate, and where it fails.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/report/arm_groups.hpp"
#include "lab/report/csv.hpp"
#include "lab/report/figure.hpp"
#include "lab/report/line_plot.hpp"
#include "lab/report/wording.hpp"

namespace equinorm::lab::report {
namespace {

// `beside` moves the bars along the logarithmic axis, so that those of several arms can be seen.
Series sensitivity_series(const ArmSummary& arm, Contrast contrast, double scale,
                          double beside = 1) {
  Series series;
  series.name = label_of(arm.arm);
  series.style = style_of_arm(arm.arm, contrast);
  for (const RateSummary& rate : arm.rates) {
    if (rate.metric.n == 0) {
      series.line.push_back({rate.learning_rate, kNotANumber});
      continue;
    }
    series.line.push_back({rate.learning_rate, rate.metric.mean * scale});
    if (rate.metric.has_interval()) {
      series.bars.push_back(
          {rate.learning_rate * beside, rate.metric.low() * scale, rate.metric.high() * scale});
    }
  }
  return series;
}

Strip failure_strip(const ArmGroup& group, Contrast contrast) {
  Strip strip{"failed", {}, 0};
  for (const ArmSummary* arm : group.arms) {
    MarkRow row{style_of_arm(arm->arm, contrast), {}};
    for (const RateSummary& rate : arm->rates) {
      if (rate.failures.failed() == 0) continue;
      row.marks.push_back(
          share_mark(rate.learning_rate, rate.failures.failed(), rate.failures.rate.n));
    }
    if (!row.marks.empty()) strip.rows.push_back(row);
  }
  return strip;
}

std::string sensitivity_csv(const TaskSummary& task) {
  Csv csv({"task", "arm", "learning_rate", "metric", "mean", "half_width", "n", "non_finite",
           "stall", "blow_up", "crashed", "capped_loss"});
  for (const ArmSummary& arm : task.arms) {
    for (const RateSummary& rate : arm.rates) {
      csv.add({task.task, arm.arm.name(), csv_number(rate.learning_rate), task.metric,
               csv_number(rate.metric.mean), csv_number(rate.metric.half_width),
               std::to_string(rate.metric.n), std::to_string(rate.failures.non_finite),
               std::to_string(rate.failures.stall), std::to_string(rate.failures.blow_up),
               std::to_string(rate.failures.errors), csv_number(rate.capped_loss)});
    }
  }
  return csv.text();
}

std::string sensitivity_description(const ArmGroup& group) {
  std::string text;
  for (const ArmSummary* arm : group.arms) {
    if (!arm->best) continue;
    text += fmt::format("{}{}: best at {:g}, {} of {} runs failed over all rates",
                        text.empty() ? "" : "; ", label_of(arm->arm),
                        arm->rates[*arm->best].learning_rate, arm->failures_all_rates.failed(),
                        arm->failures_all_rates.rate.n);
  }
  return text.empty() ? "No finished runs." : text + ".";
}

}  // namespace

Figure rate_sensitivity(const TaskSummary& task, const std::string& prefix) {
  Figure figure{.id = prefix + "-rates",
                .title = "Sensitivity to the learning rate",
                .caption =
                    "Mean over the runs that did not fail, with 95 % intervals; bars stand beside "
                    "each other where arms share a rate.",
                .legend = arm_legend(task),
                .scale = {},
                .panels = {},
                .csv_name = prefix + "-rates.csv",
                .csv = sensitivity_csv(task)};
  const double scale = is_accuracy(task) ? 100 : 1;
  const Contrast contrast = contrast_of(task);
  Range x, y;
  std::vector<double> rates;
  for (const ArmSummary& arm : task.arms) {
    for (const Point& point : sensitivity_series(arm, contrast, scale).line) y.include(point.y);
    for (const Extent& bar : sensitivity_series(arm, contrast, scale).bars) {
      y.include(bar.low);
      y.include(bar.high);
    }
    for (const RateSummary& rate : arm.rates) {
      x.include(rate.learning_rate);
      rates.push_back(rate.learning_rate);
    }
  }
  if (is_accuracy(task) && !y.empty()) y = {std::max(y.low, 0.0), std::min(y.high, 100.0), true};
  std::sort(rates.begin(), rates.end());
  rates.erase(std::unique(rates.begin(), rates.end()), rates.end());
  if (x.empty()) x = {1e-4, 1e-2, true};
  std::size_t strip_rows = 0;
  for (const ArmGroup& group : group_arms(task)) {
    strip_rows = std::max(strip_rows, failure_strip(group, contrast).rows.size());
  }
  if (strip_rows > 0) {
    figure.caption += " Marks in the strip above: how many of the runs at that rate failed.";
  }
  for (const ArmGroup& group : group_arms(task)) {
    LinePlot plot;
    plot.id = figure.id + (group.key.empty() ? "" : "-" + group.key);
    plot.title = panel_title("Final " + task.metric, group);
    plot.description = sensitivity_description(group);
    plot.x = {
        "learning rate (log scale)", true, {x.low / 1.25, x.high * 1.25, true}, ticks_at(rates)};
    plot.y = {is_accuracy(task) ? "percent" : "nats", false, rounded(y, false), {}};
    const double middle = (static_cast<double>(group.arms.size()) - 1) / 2;
    for (std::size_t i = 0; i < group.arms.size(); ++i) {
      const double beside = std::pow(1.02, static_cast<double>(i) - middle);
      plot.series.push_back(sensitivity_series(*group.arms[i], contrast, scale, beside));
    }
    plot.above = failure_strip(group, contrast);
    plot.above.min_rows = strip_rows;
    figure.panels.push_back(render(plot));
  }
  return figure;
}

}  // namespace equinorm::lab::report
