// How a series looks: colour, dash and marker, chosen so that any one of them is enough. Colours
// are Okabe and Ito's, which colour-blind people can tell apart.
#pragma once

#include <cstddef>
#include <string>

#include "lab/experiment/run_store.hpp"
#include "lab/report/svg.hpp"

namespace equinorm::lab::report {

enum class Marker { circle, square, triangle, diamond, down, star, cross, plus, asterisk };

/// What colour and marker stand for; the other one is the dash. With only_placements there is one
/// norm, and the dash is the placement's too.
enum class Contrast { norms, placements, only_placements };

struct Style {
  std::string color = "#000000";
  std::string dash;  ///< SVG dash array, empty: solid
  Marker marker = Marker::circle;
  bool filled = true;
  double width = 1.6;
};

/// The fill of a marker is always the placement's. Of named forms and placements, neighbours in
/// their lists look different. Arms without a norm are black.
[[nodiscard]] Style style_of_arm(const Arm& arm, Contrast contrast);

/// For things that have no look of their own: neighbours differ in colour, marker and dash.
[[nodiscard]] Style style_of_index(std::size_t index);

/// For "one-pass", "two-pass", "pytorch" and "equinorm" in the numerics panel.
[[nodiscard]] Style style_of_algorithm(const std::string& algorithm);

/// Draws the marker centred at (x, y), about 2 * radius wide.
void draw_marker(Svg& svg, double x, double y, const Style& style, double radius = 3);

/// A line with its marker, for legends; decorative, so hidden from screen readers.
[[nodiscard]] std::string swatch(const Style& style);

}  // namespace equinorm::lab::report
