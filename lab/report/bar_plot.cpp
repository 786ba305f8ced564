#include "lab/report/bar_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "lab/report/frame.hpp"
#include "lab/report/scale.hpp"
#include "lab/report/svg.hpp"

namespace equinorm::lab::report {
namespace {

constexpr double kLeft = 112;  // at least; longer labels take more
constexpr double kLetter = 6.7;
constexpr double kRight = kPanelWidth - 106;
constexpr double kTop = 40;
constexpr double kBarHeight = 15;
constexpr double kPitch = 22;

double left_of(const BarPlot& plot) {
  double left = kLeft;
  for (const Bar& bar : plot.bars) {
    left = std::max(left, 8 + kLetter * static_cast<double>(bar.label.size()));
  }
  return std::min(left, kRight - 40);
}

double value_or_zero(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

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

void draw_bar(Svg& svg, const BarPlot& plot, const Bar& bar, const Scale& x, double y) {
  svg.text(x(0) - 6, y + 11.5, "tick", bar.label, {{"text-anchor", "end"}});
  double total = 0;
  for (std::size_t i = 0; i < plot.parts.size() && i < bar.values.size(); ++i) {
    const double value = value_or_zero(bar.values[i]);
    if (value > 0) draw_part(svg, x(total), y, x(total + value) - x(total), plot.parts[i]);
    total += value;
  }
  svg.text(x(total) + 5, y + 11.5, "note", bar.note);
}

}  // namespace

std::string render(const BarPlot& plot) {
  const double bottom = kTop + kPitch * static_cast<double>(plot.bars.size());
  Svg svg(kPanelWidth, bottom + 40, plot.id, plot.title, plot.description);
  Range range{0, 0, true};
  for (const Bar& bar : plot.bars) {
    double total = 0;
    for (const double value : bar.values) total += value_or_zero(value);
    range.include(total);
  }
  if (range.high == 0) range.high = 1;
  const double left = left_of(plot);
  const Scale x(range, false, left, kRight);
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
