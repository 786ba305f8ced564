// The frame of a panel: title, axes, grid, ticks. Shared by line plots and heat maps.
#pragma once

#include <string>
#include <vector>

#include "lab/report/scale.hpp"
#include "lab/report/svg.hpp"

namespace equinorm::lab::report {

inline constexpr double kPanelWidth = 360;

/// The data area of a panel in its own units.
struct Area {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

/// Room at the left for labels of rows, at least `least`.
[[nodiscard]] double label_room(const std::vector<std::string>& labels, double least);

/// A tick label, with its exponent raised.
void draw_tick_label(Svg& svg, double x, double y, const Tick& tick, const char* anchor);

void draw_panel_title(Svg& svg, const std::string& title);

/// Horizontal axis at the bottom of `area`; `label` below its tick labels.
void draw_x_axis(Svg& svg, const Area& area, const Scale& scale, const std::vector<Tick>& ticks,
                 const std::string& label);

/// Vertical axis with grid lines; `label` stands level, above the axis.
void draw_y_axis(Svg& svg, const Area& area, const Scale& scale, const std::vector<Tick>& ticks,
                 const std::string& label);

}  // namespace equinorm::lab::report
