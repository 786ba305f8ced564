#include "lab/report/style.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>

#include "equinorm/row_forms.hpp"

namespace equinorm::lab::report {
namespace {

constexpr const char* kInk = "#222222";
constexpr const char* kBlue = "#0072B2";
constexpr const char* kGreen = "#009E73";
constexpr const char* kVermillion = "#D55E00";
constexpr const char* kPurple = "#AA4499";
constexpr const char* kOrange = "#E69F00";
constexpr const char* kSky = "#56B4E9";

std::string polygon(std::initializer_list<std::pair<double, double>> points) {
  std::string path;
  for (const auto& [x, y] : points) {
    path += fmt::format("{}{} {}", path.empty() ? "M" : "L", coordinate(x), coordinate(y));
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
    case Marker::cross:
    case Marker::circle:
      break;
  }
  return "";
}

void draw_cross(Svg& svg, double x, double y, const Style& style, double r) {
  svg.element("path",
              {{"d", fmt::format("M{} {}L{} {}M{} {}L{} {}", coordinate(x - r), coordinate(y - r),
                                 coordinate(x + r), coordinate(y + r), coordinate(x - r),
                                 coordinate(y + r), coordinate(x + r), coordinate(y - r))},
               {"stroke", style.color},
               {"stroke-width", "1.6"},
               {"fill", "none"}});
}

}  // namespace

Style style_of_arm(const std::string& norm, const std::string& placement) {
  Style style;
  style.color = kInk;
  style.marker = Marker::cross;
  if (norm == "batch") style = {kVermillion, "", Marker::square};
  if (norm == "layer") style = {kBlue, "", Marker::circle};
  if (norm == "rms") style = {kGreen, "", Marker::triangle};
  for (std::size_t i = 0; i < std::size(kRowForms); ++i) {
    if (norm != kRowForms[i].name) continue;
    constexpr const char* kColors[] = {kPurple, kOrange, kSky, kVermillion, kBlue, kGreen};
    constexpr Marker kMarkers[] = {Marker::diamond, Marker::square, Marker::triangle,
                                   Marker::circle};
    style = {kColors[i % std::size(kColors)], "", kMarkers[i % std::size(kMarkers)]};
  }
  if (norm == "none") {
    style.dash = "1 3";
  } else if (placement == "post") {
    style.dash = "6 3";
    style.filled = false;
  }
  return style;
}

Style style_of_algorithm(const std::string& algorithm) {
  if (algorithm == "one-pass") return {kVermillion, "2 3", Marker::square, true, 1.6};
  if (algorithm == "two-pass") return {kPurple, "6 3", Marker::triangle, false, 1.6};
  if (algorithm == "pytorch") return {kInk, "8 3 2 3", Marker::diamond, false, 1.6};
  return {kBlue, "", Marker::circle, true, 2.2};
}

void draw_marker(Svg& svg, double x, double y, const Style& style, double radius) {
  if (style.marker == Marker::cross) return draw_cross(svg, x, y, style, radius);
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
