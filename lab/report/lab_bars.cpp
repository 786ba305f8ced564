// A figure of bars: a metric per arm with its interval, whole or as the parts that it is made of.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/evidence/metric_text.hpp"
#include "lab/report/bar_plot.hpp"
#include "lab/report/figure_data.hpp"
#include "lab/report/wording.hpp"

namespace equinorm::lab::report {
namespace {

/// Short, since little room is left beside the longest bar: 1204 in place of 1.2e+03.
std::string short_number(double value, int digits) {
  const double size = std::fabs(value);
  return size >= 100 && size < 1e5 ? fmt::format("{:.0f}", value) : number_text(value, digits);
}

std::string note_of(const Spot& spot) {
  if (spot.n == 0) return "no run";
  std::string text = short_number(spot.mean, 3);
  if (std::isfinite(spot.high)) {
    text += fmt::format(" {} {}", kPlusMinus, short_number(spot.high - spot.mean, 2));
  }
  return text + fmt::format(", n = {}", spot.n);
}

Bar bar_of(const FigureData& data, const std::string& arm, const Json& panel, SpotTable& table) {
  const Spot whole = data.whole(arm, panel, data.spec().y);
  table.add(panel, arm, data.spec().y, {whole});
  Bar bar{arm, {}, note_of(whole), whole.low, whole.high};
  for (const std::string& part : data.spec().parts) {
    const Spot spot = data.whole(arm, panel, part);
    table.add(panel, arm, part, {spot});
    bar.values.push_back(spot.mean);
  }
  if (data.spec().parts.empty()) bar.values = {whole.mean};
  return bar;
}

}  // namespace

Figure bars_figure(const FigureData& data) {
  const FigureSpec& spec = data.spec();
  Figure figure = data.empty_figure("mean and 95 % interval over seeds.");
  SpotTable table(data);
  std::vector<BarPart> parts;
  for (const std::string& part : spec.parts) {
    parts.push_back(part_of_index(parts.size(), title_of_metric(part)));
    figure.legend.push_back({swatch(parts.back()), parts.back().name});
  }
  if (parts.empty()) parts = {part_of_index(0, title_of_metric(spec.y))};
  std::vector<BarPlot> plots;
  Range range;
  for (const Json& panel : data.panels()) {
    BarPlot plot;
    plot.id = fmt::format("{}-{}", data.id(), plots.size() + 1);
    plot.title = data.title_of(panel);
    plot.x_label = title_of_metric(spec.y_label);
    plot.parts = parts;
    for (const std::string& arm : data.arms()) {
      plot.bars.push_back(bar_of(data, arm, panel, table));
      plot.description +=
          fmt::format("{}{}: {}", plot.description.empty() ? "" : "; ", arm, plot.bars.back().note);
    }
    const Range own = extent_of(plot);
    range.include(own.low);
    range.include(own.high);
    plots.push_back(std::move(plot));
  }
  for (BarPlot& plot : plots) {
    plot.range = range;
    figure.panels.push_back(render(plot));
  }
  figure.csv = table.csv();
  return figure;
}

}  // namespace equinorm::lab::report
