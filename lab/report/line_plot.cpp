#include "lab/report/line_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "lab/report/frame.hpp"

namespace equinorm::lab::report {
namespace {

constexpr double kLeft = 42;
constexpr double kRight = kPanelWidth - 8;
constexpr double kTop = 40;
constexpr double kPlotHeight = 170;
constexpr double kRowHeight = 12;

double height_of(const Strip& strip) {
  const std::size_t rows = std::max(strip.rows.size(), strip.min_rows);
  return rows == 0 ? 0 : kRowHeight * static_cast<double>(rows) + 10;
}

bool drawable(const Scale& x, const Scale& y, double px, double py) {
  if (!std::isfinite(px) || !std::isfinite(py)) return false;
  return !(x.is_log() && px <= 0) && !(y.is_log() && py <= 0);
}

/// Where the lower end is drawn: at the axis where a logarithmic one has no place for it.
double lower_end(const Extent& extent, const Scale& y) {
  return y.is_log() && extent.low <= 0 ? y.range().low : extent.low;
}

void draw_band(Svg& svg, const Series& series, const Scale& x, const Scale& y) {
  std::string upper, lower;
  for (const Extent& extent : series.band) {
    const double low = lower_end(extent, y);
    if (!drawable(x, y, extent.x, low) || !drawable(x, y, extent.x, extent.high)) continue;
    upper += fmt::format("{}{} {}", upper.empty() ? "M" : "L", coordinate(x(extent.x)),
                         coordinate(y(extent.high)));
    lower = fmt::format("L{} {}", coordinate(x(extent.x)), coordinate(y(low))) + lower;
  }
  if (upper.empty()) return;
  svg.element("path", {{"d", upper + lower + "Z"},
                       {"fill", series.style.color},
                       {"fill-opacity", "0.14"},
                       {"stroke", "none"}});
}

void draw_bars(Svg& svg, const Series& series, const Scale& x, const Scale& y) {
  for (const Extent& bar : series.bars) {
    const double low = lower_end(bar, y);
    if (!drawable(x, y, bar.x, low) || !drawable(x, y, bar.x, bar.high)) continue;
    const std::string at = coordinate(x(bar.x));
    svg.element("line", {{"x1", at},
                         {"y1", coordinate(y(low))},
                         {"x2", at},
                         {"y2", coordinate(y(bar.high))},
                         {"stroke", series.style.color},
                         {"stroke-width", "1"}});
  }
}

void draw_line(Svg& svg, const Series& series, const Scale& x, const Scale& y) {
  std::string path;
  bool pen_down = false;
  for (const Point& point : series.line) {
    if (!drawable(x, y, point.x, point.y)) {
      pen_down = false;
      continue;
    }
    path += fmt::format("{}{} {}", pen_down ? "L" : "M", coordinate(x(point.x)),
                        coordinate(y(point.y)));
    pen_down = true;
  }
  if (path.empty()) return;
  svg.element("path",
              {{"d", path},
               {"fill", "none"},
               {"stroke", series.style.color},
               {"stroke-width", coordinate(series.style.width)},
               {"stroke-linejoin", "round"},
               {"stroke-dasharray", series.style.dash.empty() ? "none" : series.style.dash}});
}

void draw_markers(Svg& svg, const Series& series, const Scale& x, const Scale& y) {
  if (series.marker_every <= 0) return;
  const auto every = static_cast<std::size_t>(series.marker_every);
  for (std::size_t i = 0; i < series.line.size(); i += every) {
    const Point& point = series.line[i];
    if (!drawable(x, y, point.x, point.y)) continue;
    if (!x.contains(point.x) || !y.contains(point.y)) continue;
    draw_marker(svg, x(point.x), y(point.y), series.style, 2.6);
  }
}

void draw_reference(Svg& svg, const ReferenceLine& line, const Scale& y) {
  if (!y.contains(line.y)) return;
  const std::string at = coordinate(y(line.y));
  svg.element("line", {{"x1", coordinate(kLeft)},
                       {"y1", at},
                       {"x2", coordinate(kRight)},
                       {"y2", at},
                       {"class", "reference"}});
  svg.text(kRight - 2, y(line.y) - 4, "note", line.label, {{"text-anchor", "end"}});
}

void draw_marks(Svg& svg, const MarkRow& row, const Scale& x, double y) {
  for (const Mark& mark : row.marks) {
    if (!x.contains(mark.x)) continue;
    draw_marker(svg, x(mark.x), y, row.style, 3);
    if (mark.label.empty()) continue;
    const bool at_end = x(mark.x) > kRight - 38;
    svg.text(x(mark.x) + (at_end ? -5.5 : 5.5), y + 3.2, "tick mark", mark.label,
             {{"text-anchor", at_end ? "end" : "start"}});
  }
}

void draw_rug(Svg& svg, const MarkRow& row, const Scale& x, double y) {
  std::string strokes;
  for (const Mark& mark : row.marks) {
    if (!x.contains(mark.x)) continue;
    strokes += fmt::format("M{} {}v8", coordinate(x(mark.x)), coordinate(y - 4));
  }
  if (!strokes.empty()) {
    svg.element("path", {{"d", strokes}, {"stroke", row.style.color}, {"stroke-width", "1"}});
  }
  draw_marker(svg, kRight + 4.5, y, row.style, 2.6);
}

// `top` is the upper edge of the strip.
void draw_strip(Svg& svg, const Strip& strip, const Scale& x, double top) {
  if (height_of(strip) == 0) return;
  const double height = height_of(strip) - 7;
  svg.element("rect", {{"x", coordinate(kLeft)},
                       {"y", coordinate(top)},
                       {"width", coordinate(kRight - kLeft)},
                       {"height", coordinate(height)},
                       {"class", "strip"}});
  svg.text(kLeft - 6, top + height / 2 + 3.5, "tick", strip.label, {{"text-anchor", "end"}});
  for (std::size_t row = 0; row < strip.rows.size(); ++row) {
    const double y = top + 1.5 + kRowHeight * (static_cast<double>(row) + 0.5);
    (strip.rug ? draw_rug : draw_marks)(svg, strip.rows[row], x, y);
  }
}

void open_clip(Svg& svg, const Area& area) {
  svg.open("clipPath", {{"id", svg.id("clip")}});
  svg.element("rect", {{"x", coordinate(area.left - 4)},
                       {"y", coordinate(area.top - 1)},
                       {"width", coordinate(area.right - area.left + 8)},
                       {"height", coordinate(area.bottom - area.top + 2)}});
  svg.close("clipPath");
  svg.open("g", {{"clip-path", svg.reference("clip")}});
}

}  // namespace

Mark share_mark(double x, int hits, int n) { return {x, fmt::format("{}/{}", hits, n)}; }

std::string render(const LinePlot& plot) {
  const double top = kTop + height_of(plot.above);
  const Area area{kLeft, top, kRight, top + kPlotHeight};
  const double axis_at = area.bottom + height_of(plot.below);
  Svg svg(kPanelWidth, axis_at + 40, plot.id, plot.title, plot.description);
  const Scale x(plot.x.range, plot.x.log, area.left + 6, area.right - 6);
  const Scale y(plot.y.range, plot.y.log, area.bottom, area.top);

  draw_panel_title(svg, plot.title);
  draw_y_axis(svg, area, y, plot.y.ticks.empty() ? y.ticks(6) : plot.y.ticks, plot.y.label);
  draw_x_axis(svg, {area.left, area.top, area.right, axis_at}, x,
              plot.x.ticks.empty() ? x.ticks(7, plot.x.whole) : plot.x.ticks, plot.x.label);
  draw_strip(svg, plot.above, x, kTop);
  draw_strip(svg, plot.below, x, area.bottom + 3);
  for (const ReferenceLine& line : plot.references) draw_reference(svg, line, y);
  open_clip(svg, area);
  for (const Series& series : plot.series) draw_band(svg, series, x, y);
  for (const Series& series : plot.series) {
    draw_bars(svg, series, x, y);
    draw_line(svg, series, x, y);
    draw_markers(svg, series, x, y);
  }
  svg.close("g");
  const bool empty = std::all_of(plot.series.begin(), plot.series.end(),
                                 [](const Series& series) { return series.line.empty(); });
  if (empty) {
    svg.text((area.left + area.right) / 2, (area.top + area.bottom) / 2, "note", "nothing to show",
             {{"text-anchor", "middle"}});
  }
  return svg.finish();
}

}  // namespace equinorm::lab::report
