// Panels: what is drawn, what is left out, what is marked.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "lab/report/bar_plot.hpp"
#include "lab/report/heat_map.hpp"
#include "lab/report/line_plot.hpp"

namespace equinorm::lab::report {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

LinePlot plot_of(const std::vector<Point>& line) {
  LinePlot plot;
  plot.id = "p";
  plot.title = "title";
  plot.x = {"x", false, {0, 10, true}, {}};
  plot.y = {"y", false, {0, 1, true}, {}};
  plot.series.push_back({"s", {"#123456", "", Marker::circle}, line, {}, {}, 1});
  return plot;
}

TEST(LinePlot, ANaNInterruptsTheLine) {
  const std::string svg = render(plot_of({{0, 0}, {1, 1}, {2, std::nan("")}, {3, 0}, {4, 1}}));
  const std::size_t begin = svg.find("<path d=\"M");
  const std::string path = svg.substr(begin, svg.find("fill", begin) - begin);
  EXPECT_EQ(count(path, "M"), 2U);
  EXPECT_EQ(count(path, "L"), 2U);
  EXPECT_EQ(count(svg, "<circle"), 4U);
}

TEST(LinePlot, ZeroHasNoPlaceOnALogAxis) {
  LinePlot plot = plot_of({{1, 0}, {2, 0.1}, {3, 1}});
  plot.y = {"y", true, {0.01, 1, true}, {}};
  EXPECT_EQ(count(render(plot), "<circle"), 2U);
}

TEST(LinePlot, PointsOutsideTheFrameGetNoMarker) {
  EXPECT_EQ(count(render(plot_of({{1, 0.5}, {2, 7}, {20, 0.5}})), "<circle"), 1U);
}

TEST(LinePlot, ABandIsOneClosedAreaFromLowToHigh) {
  LinePlot plot = plot_of({});
  plot.series[0].band = {{0, 0.2, 0.4}, {10, 0.5, 0.9}};
  const std::string svg = render(plot);
  EXPECT_EQ(count(svg, "fill-opacity"), 1U);
  EXPECT_NE(svg.find("Z\" fill=\"#123456\""), std::string::npos);
}

TEST(LinePlot, StripsHoldOneMarkPerFailureAndTheirLabel) {
  LinePlot plot = plot_of({});
  plot.above = {"failed", {{{"#123456", "", Marker::circle}, {{1, ""}, {2, "1/3"}, {3, ""}}}}, 0};
  const std::string svg = render(plot);
  EXPECT_EQ(count(svg, "<circle"), 3U);
  EXPECT_EQ(count(svg, ">failed<"), 1U);
}

TEST(LinePlot, AStripKeepsRoomForPanelsBesideIt) {
  LinePlot bare = plot_of({});
  LinePlot roomy = plot_of({});
  roomy.above.min_rows = 2;
  const auto view_box = [](const std::string& svg) { return svg.substr(svg.find("viewBox"), 30); };
  EXPECT_NE(view_box(render(bare)), view_box(render(roomy)));
}

TEST(LinePlot, TheSamePlotGivesTheSameText) {
  EXPECT_EQ(render(plot_of({{0, 0}, {1, 1}})), render(plot_of({{0, 0}, {1, 1}})));
}

// Lightness as a photocopier sees it.
double luma(const std::string& color) {
  const auto channel = [&color](int at) { return std::stoi(color.substr(at, 2), nullptr, 16); };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

TEST(HeatMap, ColoursGetSteadilyLighter) {
  double last = -1;
  for (int i = 0; i <= 50; ++i) {
    const double lightness = luma(heat_color(i / 50.0));
    EXPECT_GT(lightness, last);
    last = lightness;
  }
}

TEST(HeatMap, SharesOutsideTheScaleTakeItsEnds) {
  EXPECT_EQ(heat_color(-1), heat_color(0));
  EXPECT_EQ(heat_color(2), heat_color(1));
}

TEST(HeatMap, CellsWithoutAFiniteValueAreHatched) {
  HeatMap map;
  map.id = "h";
  map.columns = {"1", "2"};
  map.rows = {"layer 1"};
  map.cells = {{1.0, std::nan("")}};
  map.range = {0.1, 10, true};
  const std::string svg = render(map);
  EXPECT_EQ(count(svg, "fill=\"url(#h-hatch)\""), 1U);
  EXPECT_EQ(count(svg, "fill=\"" + heat_color(0.5) + "\""), 1U);
}

TEST(BarPlot, PartsLieEndToEnd) {
  BarPlot plot;
  plot.id = "b";
  plot.parts = {{"one", "#111111", false}, {"two", "#222222", false}};
  plot.bars = {{"bar", {1, 3}, "4 ms"}};
  const std::string svg = render(plot);
  const auto number_after = [&svg](std::size_t from, const std::string& name) {
    const std::size_t at = svg.find(name + "=\"", from) + name.size() + 2;
    return std::stod(svg.substr(at));
  };
  const std::size_t first = svg.rfind("<rect", svg.find("#111111"));
  const std::size_t second = svg.rfind("<rect", svg.find("#222222"));
  // Coordinates are written to a hundredth.
  EXPECT_NEAR(number_after(first, "x") + number_after(first, "width"), number_after(second, "x"),
              0.011);
  EXPECT_NEAR(3 * number_after(first, "width"), number_after(second, "width"), 0.031);
  EXPECT_NE(svg.find("4 ms"), std::string::npos);
}

TEST(BarPlot, LongLabelsGetTheRoomTheyNeed) {
  BarPlot plot;
  plot.id = "b";
  plot.parts = {{"one", "#111111", false}};
  const auto left = [&plot](const std::string& label) {
    plot.bars = {{label, {1}, ""}};
    const std::string svg = render(plot);
    return std::stod(svg.substr(svg.find("x=\"", svg.rfind("<rect", svg.find("#111111"))) + 3));
  };
  EXPECT_EQ(left("short"), left("a little longer"));
  EXPECT_GT(left("LayerNorm pre_no_final"), 22 * 6.0);  // a letter takes some 6 units
}

TEST(BarPlot, MissingTimesAreNotDrawn) {
  BarPlot plot;
  plot.id = "b";
  plot.parts = {{"one", "#111111", false}};
  plot.bars = {{"bar", {std::nan("")}, ""}};
  EXPECT_EQ(count(render(plot), "#111111"), 0U);
}

}  // namespace
}  // namespace equinorm::lab::report
