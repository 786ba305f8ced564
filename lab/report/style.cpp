#include "lab/report/style.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <iterator>

#include "equinorm/operator_forms.hpp"
#include "equinorm/row_forms.hpp"
#include "lab/models/placement.hpp"

namespace equinorm::lab::report {
namespace {

constexpr const char* kInk = "#222222";
constexpr const char* kBlue = "#0072B2";
constexpr const char* kGreen = "#009E73";
constexpr const char* kVermillion = "#D55E00";
constexpr const char* kPurple = "#AA4499";
constexpr const char* kOrange = "#E69F00";
constexpr const char* kSky = "#56B4E9";

constexpr const char* kColors[] = {kBlue, kVermillion, kGreen, kPurple, kOrange, kSky};
constexpr Marker kMarkers[] = {Marker::circle,  Marker::square, Marker::triangle,
                               Marker::diamond, Marker::down,   Marker::star};
constexpr const char* kNormDashes[] = {"", "6 3", "2 2", "8 3 2 3", "10 4", "4 2"};
// In the order of the list of placements, which begins with post and pre.
constexpr const char* kPlacementDashes[] = {
    "6 3",         "",     "2 2",         "8 3 2 3", "4 2", "10 4", "3 3 1 3",
    "6 2 1 2 1 2", "12 3", "8 2 2 2 2 2", "5 5",     "1 2"};

template <class Value, std::size_t size>
Value at(const Value (&values)[size], std::size_t index) {
  return values[index % size];
}

// Among the placements that have a norm.
std::size_t index_of_placement(const std::string& name) {
  std::size_t index = 0;
  for (const Placement& placement : placements()) {
    if (name == placement.name) break;
    if (has_norm(placement)) ++index;
  }
  return index;
}

std::size_t index_of_norm(const std::string& name) {
  std::size_t index = 0;
  for (const char* known : {"layer", "rms", "batch"}) {
    if (name == known) return index;
    ++index;
  }
  for (const NamedForm& form : kRowForms) {
    if (name == form.name) return index;
    ++index;
  }
  for (const OperatorForm& form : kOperatorForms) {
    if (name == form.name) break;
    ++index;
  }
  return index;
}

Style style_of_norm(const std::string& norm, std::size_t index) {
  if (norm == "batch") return {kVermillion, "", Marker::square};
  if (norm == "layer") return {kBlue, "", Marker::circle};
  if (norm == "rms") return {kGreen, "", Marker::triangle};
  constexpr const char* kFormColors[] = {kPurple, kOrange, kSky, kVermillion, kBlue, kGreen};
  constexpr Marker kFormMarkers[] = {Marker::diamond, Marker::square, Marker::triangle,
                                     Marker::circle};
  const std::size_t form = index - 3;  // behind the three above
  return {at(kFormColors, form), "", at(kFormMarkers, form)};
}

Style style_without_norm(const std::string& name) {
  if (name == "none") return {kInk, "1 3", Marker::cross};
  std::size_t index = 0;
  for (const Placement& placement : placements()) {
    if (name == placement.name) break;
    if (!has_norm(placement)) ++index;
  }
  constexpr const char* kDashes[] = {"1 3 5 3", "5 2 1 2 1 2"};
  constexpr Marker kStrokes[] = {Marker::plus, Marker::asterisk};
  return {kInk, at(kDashes, index), at(kStrokes, index)};
}

std::string polygon(std::initializer_list<std::pair<double, double>> points) {
  std::string path;
  for (const auto& [x, y] : points) {
    path += fmt::format("{}{} {}", path.empty() ? "M" : "L", coordinate(x), coordinate(y));
  }
  return path + "Z";
}

std::string star(double x, double y, double r) {
  std::string path;
  for (int i = 0; i < 10; ++i) {
    const double length = i % 2 == 0 ? r : 0.45 * r;
    const double angle = i * std::acos(-1.0) / 5;
    path += fmt::format("{}{} {}", i == 0 ? "M" : "L", coordinate(x + length * std::sin(angle)),
                        coordinate(y - length * std::cos(angle)));
  }
  return path + "Z";
}

std::string outline(double x, double y, Marker marker, double r) {
  switch (marker) {
    case Marker::square:
      return polygon({{x - r, y - r}, {x + r, y - r}, {x + r, y + r}, {x - r, y + r}});
    case Marker::triangle:
      return polygon({{x, y - 1.2 * r}, {x + 1.2 * r, y + r}, {x - 1.2 * r, y + r}});
    case Marker::diamond:
      return polygon({{x, y - 1.4 * r}, {x + 1.4 * r, y}, {x, y + 1.4 * r}, {x - 1.4 * r, y}});
    case Marker::down:
      return polygon({{x, y + 1.2 * r}, {x + 1.2 * r, y - r}, {x - 1.2 * r, y - r}});
    case Marker::star:
      return star(x, y, 1.5 * r);
    case Marker::circle:
    case Marker::cross:
    case Marker::plus:
    case Marker::asterisk:
      break;
  }
  return "";
}

bool is_open(Marker marker) {
  return marker == Marker::cross || marker == Marker::plus || marker == Marker::asterisk;
}

// Markers of strokes: a cross, a plus, or both.
void draw_strokes(Svg& svg, double x, double y, const Style& style, double r) {
  const auto line = [&](double dx, double dy) {
    return fmt::format("M{} {}L{} {}", coordinate(x - dx), coordinate(y - dy), coordinate(x + dx),
                       coordinate(y + dy));
  };
  std::string path;
  if (style.marker != Marker::plus) path += line(r, r) + line(r, -r);
  if (style.marker != Marker::cross) path += line(1.3 * r, 0) + line(0, 1.3 * r);
  svg.element("path",
              {{"d", path}, {"stroke", style.color}, {"stroke-width", "1.6"}, {"fill", "none"}});
}

}  // namespace

Style style_of_arm(const Arm& arm, Contrast contrast) {
  if (arm.norm == "none") return style_without_norm(arm.name());
  const std::size_t placement = index_of_placement(arm.placement);
  const std::size_t norm = index_of_norm(arm.norm);
  Style style;
  if (contrast != Contrast::norms) {
    const char* dash =
        contrast == Contrast::placements ? at(kNormDashes, norm) : at(kPlacementDashes, placement);
    style = {at(kColors, placement), dash, at(kMarkers, placement)};
    style.filled = placement / std::size(kMarkers) % 2 == 0;
    return style;
  }
  style = style_of_norm(arm.norm, norm);
  style.dash = at(kPlacementDashes, placement);
  style.filled = placement % 2 == 1;
  return style;
}

Style style_of_index(std::size_t index) {
  return {at(kColors, index), at(kNormDashes, index + index / std::size(kColors)),
          at(kMarkers, index + index / std::size(kColors)), index % 2 == 0};
}

Style style_of_algorithm(const std::string& algorithm) {
  if (algorithm == "one-pass") return {kVermillion, "2 3", Marker::square, true, 1.6};
  if (algorithm == "two-pass") return {kPurple, "6 3", Marker::triangle, false, 1.6};
  if (algorithm == "pytorch") return {kInk, "8 3 2 3", Marker::diamond, false, 1.6};
  return {kBlue, "", Marker::circle, true, 2.2};
}

void draw_marker(Svg& svg, double x, double y, const Style& style, double radius) {
  if (is_open(style.marker)) return draw_strokes(svg, x, y, style, radius);
  const std::string fill = style.filled ? style.color : "#ffffff";
  if (style.marker == Marker::circle) {
    svg.element("circle", {{"cx", coordinate(x)},
                           {"cy", coordinate(y)},
                           {"r", coordinate(radius)},
                           {"fill", fill},
                           {"stroke", style.color},
                           {"stroke-width", "1.2"}});
    return;
  }
  svg.element("path", {{"d", outline(x, y, style.marker, radius)},
                       {"fill", fill},
                       {"stroke", style.color},
                       {"stroke-width", "1.2"}});
}

std::string swatch(const Style& style) {
  Svg svg = Svg::decoration(34, 12, "swatch");
  svg.element("line", {{"x1", "0"},
                       {"y1", "6"},
                       {"x2", "34"},
                       {"y2", "6"},
                       {"stroke", style.color},
                       {"stroke-width", coordinate(style.width)},
                       {"stroke-dasharray", style.dash.empty() ? "none" : style.dash}});
  draw_marker(svg, 17, 6, style, 3.2);
  return svg.finish();
}

}  // namespace equinorm::lab::report
