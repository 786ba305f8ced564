// Figures of an experiment, as its declaration asks for them.
#include <fmt/format.h>

#include <algorithm>

#include "lab/report/figure_data.hpp"
#include "lab/report/lab_report.hpp"

namespace equinorm::lab::report {
namespace {

Figure draw(const FigureData& data) {
  switch (data.spec().kind) {
    case FigureKind::heat_map:
      return heat_map_figure(data);
    case FigureKind::bars:
      return bars_figure(data);
    default:
      return lines_figure(data);
  }
}

/// Of a CSV: more than its header.
bool has_numbers(const Figure& figure) {
  return std::count(figure.csv.begin(), figure.csv.end(), '\n') > 1;
}

}  // namespace

std::vector<Figure> lab_figures(const ExperimentResults& results) {
  std::vector<Figure> figures;
  const Declaration& declaration = *results.declaration;
  for (std::size_t i = 0; i < declaration.figures.size(); ++i) {
    const std::string id = fmt::format("{}-figure-{}", declaration.id, i + 1);
    Figure figure = draw(FigureData(results, declaration.figures[i], id));
    if (has_numbers(figure)) figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace equinorm::lab::report
