// One panel of horizontal bars, stacked with one colour and pattern per part.
//
// The one trap: values below 0 have a place only in bars of one part.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lab/experiment/statistics.hpp"
#include "lab/report/scale.hpp"

namespace equinorm::lab::report {

struct BarPart {
  std::string name;
  std::string color;
  bool striped = false;
};

struct Bar {
  std::string label;
  std::vector<double> values;  ///< one per part; NaN counts as 0
  std::string note;            ///< stands after the bar
  double low = kNotANumber;    ///< interval of the whole; NaN: none
  double high = kNotANumber;
};

struct BarPlot {
  std::string id;
  std::string title;
  std::string description;
  std::string x_label;
  std::vector<BarPart> parts;
  std::vector<Bar> bars;
  Range range;  ///< of the axis; empty: extent_of()
};

/// From the first part to the last named colours and patterns that differ in print.
[[nodiscard]] BarPart part_of_index(std::size_t index, const std::string& name);

/// 0, every bar and every interval.
[[nodiscard]] Range extent_of(const BarPlot& plot);

[[nodiscard]] std::string render(const BarPlot& plot);

/// A square in the part's colour and pattern, for legends.
[[nodiscard]] std::string swatch(const BarPart& part);

}  // namespace equinorm::lab::report
