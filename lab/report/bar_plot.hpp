// One panel of stacked horizontal bars with one colour and pattern per part.
#pragma once

#include <string>
#include <vector>

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
};

struct BarPlot {
  std::string id;
  std::string title;
  std::string description;
  std::string x_label;
  std::vector<BarPart> parts;
  std::vector<Bar> bars;
};

[[nodiscard]] std::string render(const BarPlot& plot);

/// A square in the part's colour and pattern, for legends.
[[nodiscard]] std::string swatch(const BarPart& part);

}  // namespace equinorm::lab::report
