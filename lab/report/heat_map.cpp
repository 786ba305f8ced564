#include "lab/report/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "lab/report/frame.hpp"
#include "lab/report/svg.hpp"

namespace equinorm::lab::report {
namespace {

constexpr double kLeast = 30;  // room for labels of rows
constexpr double kRight = kPanelWidth - 8;
constexpr double kTop = 40;
constexpr double kHeight = 320;  // about the most; rows get lower when they are many
constexpr double kCellHeight = 16;
constexpr double kLabelHeight = 12;

struct Layout {
  double left = 0;
  double width = 0;  // of a cell
  double height = 0;
};

Layout layout_of(const HeatMap& map) {
  const auto count = [](std::size_t n) { return static_cast<double>(std::max<std::size_t>(1, n)); };
  const double left = label_room(map.rows, kLeast);
  return {left, (kRight - left) / count(map.columns.size()),
          std::clamp(kHeight / count(map.rows.size()), 3.0, kCellHeight)};
}

// Blue over teal to yellow, evenly rising in lightness.
constexpr std::array<std::array<int, 3>, 6> kAnchors = {
    {{24, 15, 61}, {52, 61, 130}, {42, 117, 142}, {53, 165, 126}, {154, 210, 82}, {253, 240, 140}}};

double share_of(const Range& range, double value) {
  if (value <= range.low) return 0;
  return std::min(1.0, std::log(value / range.low) / std::log(range.high / range.low));
}

void define_hatch(Svg& svg) {
  svg.open("pattern", {{"id", svg.id("hatch")},
                       {"width", "5"},
                       {"height", "5"},
                       {"patternUnits", "userSpaceOnUse"}});
  svg.element("path", {{"d", "M0 5L5 0"}, {"stroke", "#888888"}, {"stroke-width", "1"}});
  svg.close("pattern");
}

void draw_cells(Svg& svg, const HeatMap& map, const Layout& layout) {
  const auto every = static_cast<std::size_t>(std::ceil(kLabelHeight / layout.height));
  for (std::size_t row = 0; row < map.cells.size(); ++row) {
    const double y = kTop + layout.height * static_cast<double>(map.cells.size() - 1 - row);
    for (std::size_t column = 0; column < map.cells[row].size(); ++column) {
      const double value = map.cells[row][column];
      const std::string fill =
          std::isfinite(value) ? heat_color(share_of(map.range, value)) : svg.reference("hatch");
      svg.element("rect",
                  {{"x", coordinate(layout.left + layout.width * static_cast<double>(column))},
                   {"y", coordinate(y)},
                   {"width", coordinate(layout.width + 0.3)},
                   {"height", coordinate(layout.height - (every > 1 ? -0.3 : 0.7))},
                   {"fill", fill}});
    }
    if (row % every != 0) continue;
    svg.text(layout.left - 6, y + layout.height / 2 + 3.5, "tick", map.rows[row],
             {{"text-anchor", "end"}});
  }
}

void draw_columns(Svg& svg, const HeatMap& map, const Layout& layout, double bottom) {
  const std::size_t every = std::max<std::size_t>(1, (map.columns.size() + 6) / 7);
  for (std::size_t i = 0; i < map.columns.size(); i += every) {
    svg.text(layout.left + layout.width * (static_cast<double>(i) + 0.5), bottom + 14, "tick",
             map.columns[i], {{"text-anchor", "middle"}});
  }
  svg.text((layout.left + kRight) / 2, bottom + 30, "axis-label", map.x_label,
           {{"text-anchor", "middle"}});
}

}  // namespace

std::string heat_color(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * (kAnchors.size() - 1);
  const auto index = std::min<std::size_t>(static_cast<std::size_t>(at), kAnchors.size() - 2);
  const double part = at - static_cast<double>(index);
  std::string color = "#";
  for (std::size_t channel = 0; channel < 3; ++channel) {
    const double value =
        kAnchors[index][channel] * (1 - part) + kAnchors[index + 1][channel] * part;
    color += fmt::format("{:02x}", static_cast<int>(std::lround(value)));
  }
  return color;
}

std::string render(const HeatMap& map) {
  const Layout layout = layout_of(map);
  const double bottom = kTop + layout.height * static_cast<double>(map.rows.size());
  Svg svg(kPanelWidth, bottom + 38, map.id, map.title, map.description);
  define_hatch(svg);
  draw_panel_title(svg, map.title);
  svg.text(0, 29, "axis-label", map.y_label);
  draw_cells(svg, map, layout);
  draw_columns(svg, map, layout, bottom);
  return svg.finish();
}

std::string heat_legend(const std::string& id, const Range& range, const std::string& label) {
  constexpr int kSteps = 60;
  constexpr double kFrom = 14;  // half a tick label
  constexpr double kTo = kPanelWidth - kFrom;
  Svg svg(kPanelWidth, 46, id, label,
          fmt::format("Colour scale from {:.3g} (dark) to {:.3g} (light), logarithmic", range.low,
                      range.high));
  svg.text(kFrom, 10, "axis-label", label);
  const double width = (kTo - kFrom) / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    svg.element("rect", {{"x", coordinate(kFrom + width * i)},
                         {"y", "15"},
                         {"width", coordinate(width + 0.3)},
                         {"height", "10"},
                         {"fill", heat_color((i + 0.5) / kSteps)}});
  }
  const Scale scale(range, true, kFrom, kTo);
  for (const Tick& tick : scale.ticks(7)) {
    draw_tick_label(svg, scale(tick.value), 38, tick, "middle");
  }
  return svg.finish();
}

}  // namespace equinorm::lab::report
