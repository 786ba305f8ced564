// A figure of lines: a line per arm, a panel per value of an axis. Over learning rates it has marks
// for the share of runs that failed, over steps a rug of what its declaration names.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "lab/evidence/metric_text.hpp"
#include "lab/report/figure_data.hpp"
#include "lab/report/line_plot.hpp"
#include "lab/report/style.hpp"

namespace equinorm::lab::report {
namespace {

bool has_place(const Spot& spot, bool log_y) { return spot.n > 0 && !(log_y && spot.mean <= 0); }

/// Bands for series, bars for the rest; a spot without place interrupts the line.
Series series_of(const FigureData& data, const std::vector<Spot>& spots) {
  const FigureSpec& spec = data.spec();
  Series series;
  for (const Spot& spot : spots) {
    if (!has_place(spot, spec.log_y)) {
      series.line.push_back({spot.x, kNotANumber});
      continue;
    }
    series.line.push_back({spot.x, spot.mean});
    if (!std::isfinite(spot.low)) continue;
    (spec.x.empty() ? series.band : series.bars).push_back({spot.x, spot.low, spot.high});
  }
  if (spec.x.empty()) {
    series.marker_every = std::max<int>(1, static_cast<int>(series.line.size()) / 8);
  }
  return series;
}

/// Bars of several arms at the same rate stand beside each other.
void spread(std::vector<Series>& all) {
  const double middle = (static_cast<double>(all.size()) - 1) / 2;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (Extent& bar : all[i].bars) bar.x *= std::pow(1.02, static_cast<double>(i) - middle);
  }
}

MarkRow failures_of(const FigureData& data, std::size_t arm, const Json& panel) {
  std::map<double, std::pair<int, int>> counts;  // failed and finished runs
  for (const Cell* cell : data.cells(data.arms()[arm], panel)) {
    for (const RateCell& rate : cell->rates) {
      counts[rate.learning_rate].first += rate.failures.failed();
      counts[rate.learning_rate].second += rate.failures.rate.n;
    }
  }
  MarkRow row{style_of_index(arm), {}};
  for (const auto& [rate, count] : counts) {
    if (count.first == 0) continue;
    row.marks.push_back(share_mark(rate, count.first, count.second));
  }
  return row;
}

Strip failure_strip(const FigureData& data, const Json& panel) {
  Strip strip{"failed", {}, 0};
  for (std::size_t arm = 0; arm < data.arms().size(); ++arm) {
    MarkRow row = failures_of(data, arm, panel);
    if (!row.marks.empty()) strip.rows.push_back(std::move(row));
  }
  return strip;
}

/// A row per arm, also of those that have nothing to mark.
Strip rug_of(const FigureData& data, const Json& panel) {
  constexpr std::size_t kRoom = 6;
  const std::string& name = data.spec().rug;
  Strip strip{name.size() <= kRoom ? name : "rug", {}, 0, true};
  for (std::size_t arm = 0; arm < data.arms().size(); ++arm) {
    std::set<double> at;
    for (const Cell* cell : data.cells(data.arms()[arm], panel)) {
      if (!cell->best) continue;
      for (const auto& [seed, record] : cell->at_best()->records) {
        const auto found = record->series.find(name);
        if (found == record->series.end()) continue;
        for (const auto& [x, y] : found->second) at.insert(x);
      }
    }
    MarkRow row{style_of_index(arm), {}};
    for (const double x : at) row.marks.push_back({x, ""});
    strip.rows.push_back(std::move(row));
  }
  return strip;
}

void describe(LinePlot& plot, const Series& series) {
  const auto drawn = [](const Point& point) { return std::isfinite(point.y); };
  const auto first = std::find_if(series.line.begin(), series.line.end(), drawn);
  if (first == series.line.end()) return;
  const auto last = std::find_if(series.line.rbegin(), series.line.rend(), drawn);
  plot.description +=
      fmt::format("{}{}: from {:.3g} to {:.3g}", plot.description.empty() ? "" : "; ", series.name,
                  first->y, last->y);
}

void describe_failures(LinePlot& plot) {
  if (plot.above.rows.empty()) return;
  plot.description += "; marks above: runs that failed";
}

Range x_range(const FigureSpec& spec, const Range& x) {
  if (x.empty()) return rounded({}, spec.log_x);
  if (spec.log_x) return {x.low / 1.25, x.high * 1.25, true};
  if (x.low == x.high) return {x.low - 1, x.high + 1, true};
  const double room = 0.03 * (x.high - x.low);
  return {x.low - room, x.high + room, true};
}

LinePlot plot_of(const FigureData& data, const Json& panel, SpotTable& table) {
  const FigureSpec& spec = data.spec();
  LinePlot plot;
  plot.title = data.title_of(panel);
  plot.x = {title_of_metric(spec.x_label), spec.log_x, {}, data.x_ticks()};
  plot.y = {title_of_metric(spec.y_label), spec.log_y, {}, {}};
  for (std::size_t arm = 0; arm < data.arms().size(); ++arm) {
    const std::vector<Spot> spots = data.spots(data.arms()[arm], panel);
    table.add(panel, data.arms()[arm], spec.y, spots);
    Series series = series_of(data, spots);
    series.name = data.arms()[arm];
    series.style = style_of_index(arm);
    describe(plot, series);
    plot.series.push_back(std::move(series));
  }
  if (plot.description.empty()) plot.description = "No finished runs";
  if (spec.x == "learning_rate") {
    spread(plot.series);
    plot.above = failure_strip(data, panel);
  }
  describe_failures(plot);
  if (!spec.rug.empty()) plot.below = rug_of(data, panel);
  return plot;
}

void include(const LinePlot& plot, Range& x, Range& y) {
  for (const Series& series : plot.series) {
    for (const Point& point : series.line) {
      x.include(point.x);
      y.include(point.y);
    }
    for (const auto* extents : {&series.band, &series.bars}) {
      for (const Extent& extent : *extents) {
        if (!plot.y.log || extent.low > 0) y.include(extent.low);
        y.include(extent.high);
      }
    }
  }
}

/// True where a logarithmic axis cuts an interval or range off.
bool is_cut(const LinePlot& plot) {
  const auto reaches_down = [](const Extent& extent) { return extent.low <= 0; };
  return plot.y.log &&
         std::any_of(plot.series.begin(), plot.series.end(), [&](const Series& series) {
           return std::any_of(series.band.begin(), series.band.end(), reaches_down) ||
                  std::any_of(series.bars.begin(), series.bars.end(), reaches_down);
         });
}

/// Panels side by side share their axes and stay level; series may differ in how far they reach.
void align(std::vector<LinePlot>& plots, const FigureSpec& spec) {
  Range x, y;
  for (const LinePlot& plot : plots) include(plot, x, y);
  std::size_t rows = 0;
  for (const LinePlot& plot : plots) rows = std::max(rows, plot.above.rows.size());
  for (LinePlot& plot : plots) {
    Range own;
    include(plot, own, y);
    plot.x.range = x_range(spec, spec.x.empty() ? own : x);
    plot.y.range = rounded(y, spec.log_y);
    plot.above.min_rows = rows;
  }
}

std::vector<Tick> rate_ticks(const std::vector<LinePlot>& plots) {
  std::set<double> rates;
  for (const LinePlot& plot : plots) {
    for (const Series& series : plot.series) {
      for (const Point& point : series.line) rates.insert(point.x);
    }
  }
  return ticks_at(std::vector<double>(rates.begin(), rates.end()));
}

}  // namespace

Figure lines_figure(const FigureData& data) {
  const FigureSpec& spec = data.spec();
  Figure figure = data.empty_figure(spec.x.empty() ? "mean and range over seeds, "
                                                   : "mean and 95 % interval over seeds, ");
  SpotTable table(data);
  std::vector<LinePlot> plots;
  for (const Json& panel : data.panels()) plots.push_back(plot_of(data, panel, table));
  figure.csv = table.csv();
  figure.caption += table.seeds() + ".";
  if (std::any_of(plots.begin(), plots.end(), is_cut)) {
    figure.caption += " What reaches down to 0 or below ends at the axis.";
  }
  align(plots, spec);
  const std::vector<Tick> rates = rate_ticks(plots);
  for (std::size_t i = 0; i < plots.size(); ++i) {
    if (spec.x == "learning_rate") plots[i].x.ticks = rates;
    plots[i].id = fmt::format("{}-{}", data.id(), i + 1);
    figure.panels.push_back(render(plots[i]));
  }
  if (plots.front().above.min_rows > 0) {
    figure.caption +=
        " Marks above: how many of the runs at that rate failed. Of those only stalled ones are in "
        "the means.";
  }
  if (!spec.rug.empty()) {
    figure.caption +=
        fmt::format(" Strokes below, a row per arm: {}, of all seeds.", title_of_metric(spec.rug));
  }
  for (std::size_t i = 0; i < data.arms().size(); ++i) {
    figure.legend.push_back({swatch(style_of_index(i)), data.arms()[i]});
  }
  return figure;
}

}  // namespace equinorm::lab::report
