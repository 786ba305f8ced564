// One panel of lines: axes, bands, error bars, reference lines, and strips of marks above and below
// for what has no place on the axis (failed runs, NaN rows, zero rows).
//
// Panels are drawn 360 units wide, which is their size on a phone; wide pages put them side by
// side.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lab/report/scale.hpp"
#include "lab/report/style.hpp"

namespace equinorm::lab::report {

struct Point {
  double x = 0;
  double y = 0;
};

/// From low to high at x: a band over many, an error bar each over few.
struct Extent {
  double x = 0;
  double low = 0;
  double high = 0;
};

struct Series {
  std::string name;
  Style style;
  std::vector<Point> line;  ///< a NaN interrupts it
  std::vector<Extent> band;
  std::vector<Extent> bars;
  int marker_every = 1;  ///< 0: no markers
};

struct Mark {
  double x = 0;
  std::string label;  ///< stands beside it; may be empty
};

/// "2/3" at x: so many of so many.
[[nodiscard]] Mark share_mark(double x, int hits, int n);

/// Marks in a row of their own, drawn like the series.
struct MarkRow {
  Style style;
  std::vector<Mark> marks;
};

struct Strip {
  std::string label;  ///< stands at the left: "failed", "NaN", "zero"; 6 letters have room
  std::vector<MarkRow> rows;
  std::size_t min_rows = 0;  ///< room kept, so that panels side by side stay level
  bool rug = false;          ///< strokes for marks, and the row's marker at its end
};

struct Axis {
  std::string label;
  bool log = false;
  Range range;              ///< drawn exactly; see rounded()
  std::vector<Tick> ticks;  ///< empty: chosen
  bool whole = false;       ///< chosen ticks are whole numbers
};

struct ReferenceLine {
  double y = 0;
  std::string label;
};

struct LinePlot {
  std::string id;           ///< unique in the page
  std::string title;        ///< stands above the panel
  std::string description;  ///< what a reader who can't see it should know
  Axis x;
  Axis y;
  std::vector<Series> series;
  std::vector<ReferenceLine> references;
  Strip above;
  Strip below;
};

/// Points outside the ranges are cut off at the frame.
[[nodiscard]] std::string render(const LinePlot& plot);

}  // namespace equinorm::lab::report
