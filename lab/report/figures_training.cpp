// Figures over training steps: learning curves and the norm of the whole gradient.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lab/report/arm_groups.hpp"
#include "lab/report/csv.hpp"
#include "lab/report/figure.hpp"
#include "lab/report/line_plot.hpp"
#include "lab/report/over_seeds.hpp"
#include "lab/report/wording.hpp"

namespace equinorm::lab::report {
namespace {

// About eight markers along a line, however many points it has.
int spacing(std::size_t points) { return static_cast<int>(std::max<std::size_t>(1, points / 8)); }

struct CurveKind {
  std::string what;   // "Held-out loss"
  std::string key;    // "loss"
  std::string label;  // of the axis
  bool log = false;
  std::function<void(const Run&, const std::function<void(int, double)>&)> collect;
};

Series series_of(const ArmSummary& arm, Contrast contrast, const CurveKind& kind) {
  Series series;
  series.name = label_of(arm.arm);
  series.style = style_of_arm(arm.arm, contrast);
  add_to(series, gather(best_runs(arm), kind.collect));
  series.marker_every = spacing(series.line.size());
  return series;
}

void include(Range& range, const Series& series) {
  for (const Point& point : series.line) range.include(point.y);
  for (const Extent& extent : series.band) {
    range.include(extent.low);
    range.include(extent.high);
  }
}

std::string end_values(const std::vector<Series>& all) {
  std::string text;
  for (const Series& series : all) {
    if (series.line.empty()) continue;
    text += fmt::format("{}{} ends at {:.4g}", text.empty() ? "" : "; ", series.name,
                        series.line.back().y);
  }
  return text.empty() ? "No values." : text + ".";
}

// One panel per group of arms; all share their axes. `cap` cuts the y axis, NaN: nothing is cut.
void add_panels(Figure& figure, const TaskSummary& task, const CurveKind& kind, double cap) {
  const Contrast contrast = contrast_of(task);
  std::vector<std::pair<ArmGroup, std::vector<Series>>> groups;
  Range x, y;
  for (const ArmGroup& group : group_arms(task)) {
    std::vector<Series> all;
    for (const ArmSummary* arm : group.arms) {
      all.push_back(series_of(*arm, contrast, kind));
      include(y, all.back());
      for (const Point& point : all.back().line) x.include(point.x);
    }
    groups.emplace_back(group, std::move(all));
  }
  if (cap > y.low && y.high > cap) y.high = cap;
  for (const auto& [group, all] : groups) {
    LinePlot plot;
    plot.id = fmt::format("{}-{}{}", figure.id, kind.key, group.key.empty() ? "" : "-" + group.key);
    plot.title = panel_title(kind.what, group);
    plot.description = end_values(all);
    plot.x = {"step", false, x.empty() ? Range{0, 1, true} : Range{0, x.high, true}, {}, true};
    plot.y = {kind.label, kind.log, rounded(y, kind.log), {}};
    plot.series = all;
    figure.panels.push_back(render(plot));
  }
}

void add_rows(Csv& csv, const TaskSummary& task, const CurveKind& kind) {
  for (const ArmSummary& arm : task.arms) {
    for (const auto& [step, values] : gather(best_runs(arm), kind.collect)) {
      const auto [low, high] = std::minmax_element(values.begin(), values.end());
      csv.add({task.task, arm.arm.name(), kind.key, std::to_string(step),
               csv_number(mean_of(values)), csv_number(*low), csv_number(*high),
               std::to_string(values.size())});
    }
  }
}

Csv curve_csv() { return Csv({"task", "arm", "quantity", "step", "mean", "low", "high", "n"}); }

// Blow-ups would flatten everything else; the curves that matter start at the initial loss.
double loss_cap(const TaskSummary& task) {
  double cap = 0;
  for (const ArmSummary& arm : task.arms) {
    for (const Run* run : best_runs(arm)) {
      if (std::isfinite(run->result.plateau)) cap = std::max(cap, 1.25 * run->result.plateau);
    }
  }
  return cap > 0 ? cap : kNotANumber;
}

}  // namespace

Figure learning_curves(const TaskSummary& task, const std::string& prefix) {
  Figure figure{.id = prefix + "-curves",
                .title = "Learning curves",
                .caption =
                    "Held-out data, each arm at its best learning rate. Lines are means over "
                    "seeds, bands reach from the lowest seed to the highest. Values beyond "
                    "the frame are cut off.",
                .legend = arm_legend(task),
                .scale = {},
                .panels = {},
                .csv_name = prefix + "-curves.csv",
                .csv = {}};
  const CurveKind loss{"Held-out loss", "loss", "nats", false, [](const Run& run, const auto& put) {
                         for (const EvalPoint& point : run.evals) put(point.step, point.loss);
                       }};
  const CurveKind accuracy{"Held-out accuracy", "accuracy", "percent", false,
                           [](const Run& run, const auto& put) {
                             for (const EvalPoint& point : run.evals) {
                               if (point.accuracy) put(point.step, 100 * *point.accuracy);
                             }
                           }};
  add_panels(figure, task, loss, loss_cap(task));
  add_panels(figure, task, accuracy, kNotANumber);
  Csv csv = curve_csv();
  add_rows(csv, task, loss);
  add_rows(csv, task, accuracy);
  figure.csv = csv.text();
  return figure;
}

Figure gradient_norms(const TaskSummary& task, const std::string& prefix) {
  Figure figure{.id = prefix + "-gradient-norm",
                .title = "Gradient norm while training",
                .caption =
                    "Norm of the whole gradient before clipping, averaged over ten steps; "
                    "mean and range over seeds.",
                .legend = arm_legend(task),
                .scale = {},
                .panels = {},
                .csv_name = prefix + "-gradient-norm.csv",
                .csv = {}};
  const CurveKind kind{"Gradient norm", "grad-norm", "norm (log scale)", true,
                       [](const Run& run, const auto& put) {
                         constexpr std::size_t kWindow = 10;
                         for (std::size_t i = 0; i + kWindow <= run.train.size(); i += kWindow) {
                           double sum = 0;
                           for (std::size_t j = i; j < i + kWindow; ++j)
                             sum += run.train[j].grad_norm;
                           put(run.train[i + kWindow - 1].step, sum / kWindow);
                         }
                       }};
  add_panels(figure, task, kind, kNotANumber);
  Csv csv = curve_csv();
  add_rows(csv, task, kind);
  figure.csv = csv.text();
  return figure;
}

}  // namespace equinorm::lab::report
