// The numbers behind a figure of an experiment: which arms, panels and values of x it has, and what
// an arm has at each x. How they are drawn is lab_lines.cpp's, lab_heat_maps.cpp's and
// lab_bars.cpp's.
#pragma once

#include <string>
#include <vector>

#include "lab/evidence/results.hpp"
#include "lab/report/csv.hpp"
#include "lab/report/figure.hpp"
#include "lab/report/scale.hpp"

namespace equinorm::lab::report {

/// What an arm has at x, over seeds: the mean, and the interval (of a series: the range).
struct Spot {
  double x = 0;
  double mean = kNotANumber;  ///< NaN: no finished run has it
  double low = kNotANumber;   ///< NaN: too few runs
  double high = kNotANumber;
  int n = 0;
};

class FigureData {
 public:
  FigureData(const ExperimentResults& results, const FigureSpec& spec, std::string id);

  [[nodiscard]] const FigureSpec& spec() const { return spec_; }
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const std::vector<std::string>& arms() const { return arms_; }
  /// Values of the axis of panels; null alone for the only panel.
  [[nodiscard]] const std::vector<Json>& panels() const { return panels_; }
  /// "batch 8"; for the only panel what is shown, since the figure's title stands above it.
  [[nodiscard]] std::string title_of(const Json& panel) const;
  [[nodiscard]] std::vector<const Cell*> cells(const std::string& arm, const Json& panel) const;

  /// What an arm has, by rising x: points of a series, learning rates or values of an axis.
  [[nodiscard]] std::vector<Spot> spots(const std::string& arm, const Json& panel) const;
  /// A metric of an arm, over seeds.
  [[nodiscard]] Spot whole(const std::string& arm, const Json& panel,
                           const std::string& metric) const;

  /// Labels where x is an axis of texts, of one value, or logarithmic with values that are not
  /// above 0; otherwise empty.
  [[nodiscard]] std::vector<Tick> x_ticks() const;

  /// Title, id, names of files and a caption that begins with what is shown and where.
  [[nodiscard]] Figure empty_figure(const std::string& over) const;

 private:
  [[nodiscard]] bool agrees(const Cell& cell) const;
  [[nodiscard]] double position_of(const Json& value) const;
  [[nodiscard]] std::vector<Spot> curve(const std::vector<const Cell*>& cells) const;

  const ExperimentResults& results_;
  FigureSpec spec_;
  bool in_order_ = false;  ///< values of the x axis stand in the order of the declaration
  std::string id_;
  std::vector<std::string> arms_;
  std::vector<Json> panels_;
  std::vector<Json> x_values_;
};

/// Every spot of a figure as CSV, and how many seeds they rest on.
class SpotTable {
 public:
  explicit SpotTable(const FigureData& data);
  void add(const Json& panel, const std::string& arm, const std::string& y,
           const std::vector<Spot>& spots);
  [[nodiscard]] std::string csv() const { return csv_.text(); }
  /// "n = 3", "n = 2 to 3".
  [[nodiscard]] std::string seeds() const;

 private:
  Csv csv_;
  int least_ = 0;
  int most_ = 0;
};

[[nodiscard]] std::string text_of(const Json& value);

[[nodiscard]] Figure lines_figure(const FigureData& data);
[[nodiscard]] Figure heat_map_figure(const FigureData& data);
[[nodiscard]] Figure bars_figure(const FigureData& data);

}  // namespace equinorm::lab::report
