#include "lab/report/frame.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace equinorm::lab::report {
namespace {

void draw_line(Svg& svg, double x1, double y1, double x2, double y2, const char* css) {
  svg.element("line", {{"x1", coordinate(x1)},
                       {"y1", coordinate(y1)},
                       {"x2", coordinate(x2)},
                       {"y2", coordinate(y2)},
                       {"class", css}});
}

}  // namespace

double label_room(const std::vector<std::string>& labels, double least) {
  constexpr double kLetter = 6.7;
  constexpr double kMost = kPanelWidth / 2;
  double room = least;
  for (const std::string& label : labels) {
    room = std::max(room, 8 + kLetter * static_cast<double>(label.size()));
  }
  return std::min(room, kMost);
}

void draw_tick_label(Svg& svg, double x, double y, const Tick& tick, const char* anchor) {
  if (tick.label.empty()) return;
  if (tick.exponent.empty()) {
    svg.text(x, y, "tick", tick.label, {{"text-anchor", anchor}});
    return;
  }
  // Two texts side by side: a tspan would inherit the anchor of the whole.
  const double raised = 5.2 * static_cast<double>(tick.exponent.size());
  const double shift = anchor[0] == 'e' ? -raised : anchor[0] == 'm' ? -raised / 2 : 0;
  svg.text(x + shift, y, "tick", tick.label, {{"text-anchor", anchor}});
  const double base = 12.6;  // width of "10"
  const double start = anchor[0] == 'e'   ? x - raised
                       : anchor[0] == 'm' ? x + shift + base / 2
                                          : x + base;
  svg.text(start + 0.5, y - 4, "tick raised", tick.exponent);
}

void draw_panel_title(Svg& svg, const std::string& title) { svg.text(0, 13, "panel-title", title); }

void draw_x_axis(Svg& svg, const Area& area, const Scale& scale, const std::vector<Tick>& ticks,
                 const std::string& label) {
  draw_line(svg, area.left, area.bottom, area.right, area.bottom, "axis");
  for (const Tick& tick : ticks) {
    if (!scale.contains(tick.value)) continue;
    const double x = scale(tick.value);
    draw_line(svg, x, area.bottom, x, area.bottom + 4, "axis");
    draw_tick_label(svg, x, area.bottom + 16, tick, "middle");
  }
  svg.text((area.left + area.right) / 2, area.bottom + 32, "axis-label", label,
           {{"text-anchor", "middle"}});
}

void draw_y_axis(Svg& svg, const Area& area, const Scale& scale, const std::vector<Tick>& ticks,
                 const std::string& label) {
  for (const Tick& tick : ticks) {
    if (!scale.contains(tick.value)) continue;
    const double y = scale(tick.value);
    draw_line(svg, area.left, y, area.right, y, "grid");
    draw_tick_label(svg, area.left - 6, y + 3.8, tick, "end");
  }
  svg.text(0, 29, "axis-label", label);
}

}  // namespace equinorm::lab::report
