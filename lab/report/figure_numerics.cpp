// The figure of rounding errors: one panel per sweep, with NaN and zero rows in strips of their
// own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/report/csv.hpp"
#include "lab/report/figure.hpp"
#include "lab/report/line_plot.hpp"
#include "lab/report/wording.hpp"

namespace equinorm::lab::report {
namespace {

// Errors below a twentieth of an ulp are all the same to a reader.
constexpr double kFloorUlp = 0.05;

std::string algorithm_label(const std::string& algorithm) {
  if (algorithm == "one-pass") return "one pass, E[x\u00b2] \u2212 E[x]\u00b2";
  if (algorithm == "two-pass") return "two passes in f32";
  if (algorithm == "pytorch") return "PyTorch";
  if (algorithm == "equinorm") return "Equinorm";
  return algorithm;
}

Series series_of(const NumericsSeries& measured) {
  Series series;
  series.name = algorithm_label(measured.algorithm);
  series.style = style_of_algorithm(measured.algorithm);
  for (const NumericsPoint& point : measured.points) {
    series.line.push_back({point.at, std::max(point.ulp, kFloorUlp)});
    if (!std::isfinite(point.ulp)) series.line.back().y = kNotANumber;
  }
  series.marker_every = std::max(1, static_cast<int>(measured.points.size()) / 10);
  return series;
}

Strip strip_of(const NumericsSweep& sweep, const char* label, int NumericsPoint::*count) {
  Strip strip{label, {}, 0};
  for (const NumericsSeries& measured : sweep.series) {
    MarkRow row{style_of_algorithm(measured.algorithm), {}};
    for (const NumericsPoint& point : measured.points) {
      if (point.*count > 0) row.marks.push_back({point.at, ""});
    }
    if (!row.marks.empty()) strip.rows.push_back(row);
  }
  return strip;
}

std::string describe(const NumericsSweep& sweep) {
  std::string text;
  for (const NumericsSeries& measured : sweep.series) {
    double worst = 0;
    int nan_points = 0, zero_points = 0;
    for (const NumericsPoint& point : measured.points) {
      if (std::isfinite(point.ulp)) worst = std::max(worst, point.ulp);
      nan_points += point.nan_rows > 0 ? 1 : 0;
      zero_points += point.zero_rows > 0 ? 1 : 0;
    }
    text += fmt::format("{}{}: worst {:.3g} ulp, NaN at {} and zeros at {} of {} points",
                        text.empty() ? "" : "; ", algorithm_label(measured.algorithm), worst,
                        nan_points, zero_points, measured.points.size());
  }
  return text + ".";
}

LinePlot plot_of(const NumericsSweep& sweep, const Numerics& numerics, const Range& y) {
  LinePlot plot;
  plot.id = "numerics-" + sweep.name;
  plot.title = fmt::format("{}: error against {}", sweep.operation, sweep.axis);
  plot.description = describe(sweep);
  Range x;
  for (const NumericsSeries& measured : sweep.series) {
    for (const NumericsPoint& point : measured.points) x.include(point.at);
    plot.series.push_back(series_of(measured));
  }
  plot.x = {fmt::format("{} (log scale), eps = {:g}", sweep.axis, sweep.eps),
            true,
            x.empty() ? Range{1, 10, true} : x,
            {}};
  plot.y = {"ulp of f32 at the row's scale (log scale)", true, y, {}};
  plot.references.push_back(
      {numerics.bound_ulp, fmt::format("stated bound, {:g} ulp", numerics.bound_ulp)});
  plot.above = strip_of(sweep, "NaN", &NumericsPoint::nan_rows);
  plot.below = strip_of(sweep, "zeros", &NumericsPoint::zero_rows);
  return plot;
}

std::string csv_of(const Numerics& numerics) {
  Csv csv({"sweep", "operation", "axis", "eps", "algorithm", "at", "worst_ulp", "nan_rows",
           "zero_rows", "rows"});
  for (const NumericsSweep& sweep : numerics.sweeps) {
    for (const NumericsSeries& measured : sweep.series) {
      for (const NumericsPoint& point : measured.points) {
        csv.add({sweep.name, sweep.operation, sweep.axis, csv_number(sweep.eps), measured.algorithm,
                 csv_number(point.at), csv_number(point.ulp), std::to_string(point.nan_rows),
                 std::to_string(point.zero_rows), std::to_string(numerics.rows)});
      }
    }
  }
  return csv.text();
}

}  // namespace

Figure numerics_panel(const Numerics& numerics) {
  Figure figure{.id = "numerics",
                .title = "Where normalization loses its digits",
                .caption = fmt::format(
                    "Worst error against exact arithmetic over {} rows of {} normal f32 values, "
                    "shifted or scaled. Marks in the strips count where an algorithm returned NaN "
                    "or infinity, or a row of zeros for a row that has none.",
                    numerics.rows, numerics.columns),
                .legend = {},
                .scale = {},
                .panels = {},
                .csv_name = "numerics.csv",
                .csv = csv_of(numerics)};
  Range y{kFloorUlp, numerics.bound_ulp, true};
  std::vector<std::string> seen;
  for (const NumericsSweep& sweep : numerics.sweeps) {
    for (const NumericsSeries& measured : sweep.series) {
      for (const NumericsPoint& point : measured.points)
        y.include(point.ulp > 0 ? point.ulp : kFloorUlp);
      if (std::find(seen.begin(), seen.end(), measured.algorithm) != seen.end()) continue;
      seen.push_back(measured.algorithm);
      figure.legend.push_back(
          {swatch(style_of_algorithm(measured.algorithm)), algorithm_label(measured.algorithm)});
    }
  }
  y = {kFloorUlp, rounded(y, true).high, true};
  std::vector<LinePlot> plots;
  std::size_t above = 0, below = 0;
  for (const NumericsSweep& sweep : numerics.sweeps) {
    plots.push_back(plot_of(sweep, numerics, y));
    above = std::max(above, plots.back().above.rows.size());
    below = std::max(below, plots.back().below.rows.size());
  }
  for (LinePlot& plot : plots) {
    plot.above.min_rows = above;
    plot.below.min_rows = below;
    figure.panels.push_back(render(plot));
  }
  return figure;
}

}  // namespace equinorm::lab::report
