#include "lab/report/bar_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "lab/report/frame.hpp"
#include "lab/report/svg.hpp"

namespace equinorm::lab::report {
namespace {

constexpr double kLeft = 112;  // at least; longer labels take more
constexpr double kRight = kPanelWidth - 106;
constexpr double kTop = 40;
constexpr double kBarHeight = 15;
constexpr double kPitch = 22;

double left_of(const BarPlot& plot) {
  std::vector<std::string> labels;
  for (const Bar& bar : plot.bars) labels.push_back(bar.label);
  return label_room(labels, kLeft);
}

double value_or_zero(double value) { return std::isfinite(value) ? value : 0; }

double total_of(const Bar& bar) {
  double total = 0;
  for (const double value : bar.values) total += value_or_zero(value);
  return total;
}

void draw_part(Svg& svg, double x, double y, double width, const BarPart& part) {
  svg.element("rect", {{"x", coordinate(x)},
                       {"y", coordinate(y)},
                       {"width", coordinate(width)},
                       {"height", coordinate(kBarHeight)},
                       {"fill", part.color},
                       {"stroke", "#ffffff"},
                       {"stroke-width", "0.8"}});
  if (!part.striped) return;
  // White strokes at a slant: tells parts of like grey apart in print.
  std::string stripes;
  for (double at = 3; at < width - 2; at += 6) {
    stripes +=
        fmt::format("M{} {}v{}", coordinate(x + at), coordinate(y + 1), coordinate(kBarHeight - 2));
  }
  if (stripes.empty()) return;
  svg.element("path", {{"d", stripes}, {"stroke", "#ffffff"}, {"stroke-width", "1.2"}});
}

void draw_interval(Svg& svg, const Bar& bar, const Scale& x, double y) {
  if (!std::isfinite(bar.low) || !std::isfinite(bar.high)) return;
  const std::string middle = coordinate(y + kBarHeight / 2);
  const std::string left = coordinate(x(bar.low));
  const std::string right = coordinate(x(bar.high));
  const std::string end = fmt::format("{}v7", coordinate(y + kBarHeight / 2 - 3.5));
  svg.element("path", {{"d", fmt::format("M{0} {2}H{1}M{0} {3}M{1} {3}", left, right, middle, end)},
                       {"stroke", "#000000"},
                       {"stroke-width", "1.2"},
                       {"fill", "none"}});
}

void draw_bar(Svg& svg, const BarPlot& plot, const Bar& bar, const Scale& x, double y) {
  svg.text(x(x.range().low) - 6, y + 11.5, "tick", bar.label, {{"text-anchor", "end"}});
  double total = 0;
  for (std::size_t i = 0; i < plot.parts.size() && i < bar.values.size(); ++i) {
    const double value = value_or_zero(bar.values[i]);
    const double from = x(std::min(total, total + value));
    if (value != 0)
      draw_part(svg, from, y, x(std::max(total, total + value)) - from, plot.parts[i]);
    total += value;
  }
  draw_interval(svg, bar, x, y);
  const double end = std::isfinite(bar.high) ? std::max(total, bar.high) : total;
  svg.text(x(std::max(end, 0.0)) + 5, y + 11.5, "note", bar.note);
}

}  // namespace

BarPart part_of_index(std::size_t index, const std::string& name) {
  static const BarPart kLooks[] = {{"", "#0072B2", false},
                                   {"", "#9a9a9a", false},
                                   {"", "#6b6b6b", true},
                                   {"", "#c9c9c9", false},
                                   {"", "#dedede", true}};
  BarPart part = kLooks[index % std::size(kLooks)];
  part.name = name;
  return part;
}

Range extent_of(const BarPlot& plot) {
  Range range{0, 0, true};
  for (const Bar& bar : plot.bars) {
    for (const double value : {total_of(bar), bar.low, bar.high}) range.include(value);
  }
  if (range.low == range.high) range.high = 1;
  return range;
}

std::string render(const BarPlot& plot) {
  const double bottom = kTop + kPitch * static_cast<double>(plot.bars.size());
  Svg svg(kPanelWidth, bottom + 40, plot.id, plot.title, plot.description);
  const double left = left_of(plot);
  const Scale x(plot.range.empty() ? extent_of(plot) : plot.range, false, left, kRight);
  draw_panel_title(svg, plot.title);
  draw_x_axis(svg, {left, kTop, kRight, bottom}, x, x.ticks(5), plot.x_label);
  for (std::size_t i = 0; i < plot.bars.size(); ++i) {
    draw_bar(svg, plot, plot.bars[i], x, kTop - 8 + kPitch * static_cast<double>(i));
  }
  return svg.finish();
}

std::string swatch(const BarPart& part) {
  Svg svg = Svg::decoration(34, 15, "swatch");
  draw_part(svg, 0, 0, 34, part);
  return svg.finish();
}

}  // namespace equinorm::lab::report
