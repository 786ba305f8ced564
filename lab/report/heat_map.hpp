// One panel of coloured cells, rows from bottom to top, with a logarithmic colour scale whose
// lightness rises steadily, so that it reads in black and white.
#pragma once

#include <string>
#include <vector>

#include "lab/report/scale.hpp"

namespace equinorm::lab::report {

struct HeatMap {
  std::string id;
  std::string title;
  std::string description;
  std::string x_label;
  std::string y_label;
  std::vector<std::string> columns;        ///< labels; only some are drawn when they are many
  std::vector<std::string> rows;           ///< labels, the lowest first
  std::vector<std::vector<double>> cells;  ///< [row][column]; NaN: hatched, 0 or less: darkest
  Range range;                             ///< of the colours, above 0
};

[[nodiscard]] std::string render(const HeatMap& map);

/// "#rrggbb" for a share in [0, 1] of the colour scale, dark to light.
[[nodiscard]] std::string heat_color(double share);

/// The colour bar that goes with maps of this range.
[[nodiscard]] std::string heat_legend(const std::string& id, const Range& range,
                                      const std::string& label);

}  // namespace equinorm::lab::report
