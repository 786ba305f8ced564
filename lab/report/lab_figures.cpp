// Figures of an experiment, as its declaration asks for them: a line per arm, a panel per value of
// an axis, and over x an axis, the learning rate, or what a series has.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "lab/evidence/metric_text.hpp"
#include "lab/report/csv.hpp"
#include "lab/report/lab_report.hpp"
#include "lab/report/line_plot.hpp"
#include "lab/report/over_seeds.hpp"
#include "lab/report/style.hpp"

namespace equinorm::lab::report {
namespace {

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// A value of an axis as a position: itself, or its place in the list where it is a text.
double position_of(const Json& value, const std::vector<Json>& values) {
  if (value.is_number()) return value.get<double>();
  const auto found = std::find(values.begin(), values.end(), value);
  return 1 + static_cast<double>(found - values.begin());
}

class FigureMaker {
 public:
  FigureMaker(const ExperimentResults& results, const FigureSpec& spec, std::string id)
      : results_(results), spec_(spec), id_(std::move(id)) {
    for (const Cell& cell : results.cells) {
      if (!agrees(cell)) continue;
      if (std::find(arms_.begin(), arms_.end(), cell.arm) == arms_.end()) {
        arms_.push_back(cell.arm);
      }
      note_value(spec.panels, cell, panels_);
      note_value(spec.x, cell, x_values_);
    }
    if (panels_.empty()) panels_.emplace_back();
  }

  [[nodiscard]] Figure figure() {
    Figure figure;
    figure.id = id_;
    figure.title = spec_.title;
    figure.caption = caption();
    figure.csv_name = id_ + ".csv";
    std::vector<LinePlot> plots;
    Csv csv({spec_.panels.empty() ? "panel" : spec_.panels, "arm", spec_.x.empty() ? "x" : spec_.x,
             spec_.y, "low", "high"});
    for (const Json& panel : panels_) plots.push_back(plot(panel, csv));
    for (std::size_t i = 0; i < plots.size(); ++i) {
      plots[i].x.range = x_range();
      plots[i].y.range = rounded(y_, spec_.log_y);
      plots[i].id = fmt::format("{}-{}", id_, i + 1);
      figure.panels.push_back(render(plots[i]));
    }
    for (std::size_t i = 0; i < arms_.size(); ++i) {
      figure.legend.push_back({swatch(style_of_index(i)), arms_[i]});
    }
    figure.csv = csv.text();
    if (!any_) figure.panels.clear();
    return figure;
  }

 private:
  [[nodiscard]] bool agrees(const Cell& cell) const {
    return std::all_of(spec_.at.begin(), spec_.at.end(), [&](const auto& wanted) {
      return cell.point.at(wanted.first) == wanted.second;
    });
  }

  static void note_value(const std::string& field, const Cell& cell, std::vector<Json>& values) {
    const auto found = cell.point.find(field);
    if (found == cell.point.end()) return;
    if (std::find(values.begin(), values.end(), found->second) == values.end()) {
      values.push_back(found->second);
    }
  }

  [[nodiscard]] std::string caption() const {
    const std::string at = describe_point(spec_.at);
    std::string text = title_of_metric(spec_.y);
    text[0] = static_cast<char>(std::toupper(text[0]));
    if (!at.empty()) text += " at " + at;
    text +=
        spec_.x.empty() ? "; mean and range over seeds." : "; mean and 95 % interval over seeds.";
    return text;
  }

  [[nodiscard]] std::vector<const Cell*> cells_of(const std::string& arm, const Json& panel) const {
    std::vector<const Cell*> cells;
    for (const Cell& cell : results_.cells) {
      const bool here = spec_.panels.empty() || cell.point.at(spec_.panels) == panel;
      if (cell.arm == arm && here && agrees(cell)) cells.push_back(&cell);
    }
    return cells;
  }

  void add_point(Series& series, double x, const Estimate& estimate) {
    if (estimate.n == 0 || (spec_.log_y && estimate.mean <= 0)) return;
    any_ = true;
    x_.include(x);
    y_.include(estimate.mean);
    series.line.push_back({x, estimate.mean});
    if (!estimate.has_interval()) return;
    const double low = estimate.mean - estimate.half_width;
    if (spec_.log_y && low <= 0) return;
    y_.include(low);
    y_.include(estimate.mean + estimate.half_width);
    series.bars.push_back({x, low, estimate.mean + estimate.half_width});
  }

  void add_axis_points(Series& series, const std::vector<const Cell*>& cells) {
    std::map<double, std::vector<double>> all;
    for (const Cell* cell : cells) {
      for (const auto& [seed, value] : metric_by_seed(*cell, spec_.y)) {
        all[position_of(cell->point.at(spec_.x), x_values_)].push_back(value);
      }
    }
    for (const auto& [x, values] : all) add_point(series, x, estimate_mean(values));
  }

  void add_rates(Series& series, const std::vector<const Cell*>& cells) {
    for (const Cell* cell : cells) {
      for (const RateCell& rate : cell->rates) add_point(series, rate.learning_rate, rate.metric);
    }
  }

  void add_curves(Series& series, const std::vector<const Cell*>& cells) {
    std::map<double, std::vector<double>> values;
    for (const Cell* cell : cells) {
      if (!cell->best) continue;
      for (const auto& [seed, record] : cell->at_best()->records) {
        const auto found = record->series.find(spec_.y);
        if (found == record->series.end()) continue;
        for (const auto& [x, y] : found->second) {
          if (std::isfinite(y) && !(spec_.log_y && y <= 0)) values[x].push_back(y);
        }
      }
    }
    for (const auto& [x, ys] : values) {
      const auto [low, high] = std::minmax_element(ys.begin(), ys.end());
      any_ = true;
      x_.include(x);
      y_.include(*low);
      y_.include(*high);
      series.line.push_back({x, mean_of(ys)});
      series.band.push_back({x, *low, *high});
    }
    series.marker_every = std::max<int>(1, static_cast<int>(series.line.size()) / 8);
  }

  LinePlot plot(const Json& panel, Csv& csv) {
    LinePlot plot;
    plot.title =
        spec_.panels.empty() ? spec_.title : title_of_metric(spec_.panels) + " " + text_of(panel);
    plot.x = {spec_.x_label, spec_.log_x, {}, x_ticks()};
    plot.y = {title_of_metric(spec_.y_label), spec_.log_y, {}, {}};
    for (std::size_t i = 0; i < arms_.size(); ++i) {
      Series series;
      series.name = arms_[i];
      series.style = style_of_index(i);
      const std::vector<const Cell*> cells = cells_of(arms_[i], panel);
      if (spec_.x.empty()) {
        add_curves(series, cells);
      } else if (spec_.x == "learning_rate") {
        add_rates(series, cells);
      } else {
        add_axis_points(series, cells);
      }
      write_csv(csv, panel, series);
      describe(plot, series);
      plot.series.push_back(std::move(series));
    }
    if (plot.description.empty()) plot.description = "No finished runs.";
    return plot;
  }

  static void describe(LinePlot& plot, const Series& series) {
    if (series.line.empty()) return;
    plot.description +=
        fmt::format("{}{}: from {:.3g} to {:.3g}", plot.description.empty() ? "" : "; ",
                    series.name, series.line.front().y, series.line.back().y);
  }

  static void write_csv(Csv& csv, const Json& panel, const Series& series) {
    for (std::size_t i = 0; i < series.line.size(); ++i) {
      const auto& extents = series.band.empty() ? series.bars : series.band;
      const auto extent = std::find_if(extents.begin(), extents.end(),
                                       [&](const Extent& e) { return e.x == series.line[i].x; });
      const bool has = extent != extents.end();
      csv.add({panel.is_null() ? "" : text_of(panel), series.name, csv_number(series.line[i].x),
               csv_number(series.line[i].y), has ? csv_number(extent->low) : "",
               has ? csv_number(extent->high) : ""});
    }
  }

  [[nodiscard]] std::vector<Tick> x_ticks() const {
    std::vector<Tick> ticks;
    if (x_values_.empty() || x_values_.front().is_number()) return ticks;
    for (const Json& value : x_values_) {
      ticks.push_back({position_of(value, x_values_), text_of(value), ""});
    }
    return ticks;
  }

  [[nodiscard]] Range x_range() const {
    if (x_.empty()) return rounded({}, spec_.log_x);
    if (spec_.log_x) return {x_.low / 1.25, x_.high * 1.25, true};
    if (x_.low == x_.high) return {x_.low - 1, x_.high + 1, true};
    const double room = 0.03 * (x_.high - x_.low);
    return {x_.low - room, x_.high + room, true};
  }

  const ExperimentResults& results_;
  const FigureSpec& spec_;
  std::string id_;
  std::vector<std::string> arms_;
  std::vector<Json> panels_;
  std::vector<Json> x_values_;
  Range x_;
  Range y_;
  bool any_ = false;
};

}  // namespace

std::vector<Figure> lab_figures(const ExperimentResults& results) {
  std::vector<Figure> figures;
  const Declaration& declaration = *results.declaration;
  for (std::size_t i = 0; i < declaration.figures.size(); ++i) {
    const std::string id = fmt::format("{}-figure-{}", declaration.id, i + 1);
    Figure figure = FigureMaker(results, declaration.figures[i], id).figure();
    if (!figure.panels.empty()) figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace equinorm::lab::report
