// A figure of colours in place of lines, for what lines would hide: a row per arm over x, or with
// x = "step" a panel per arm with a row per layer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "lab/evidence/metric_text.hpp"
#include "lab/report/figure_data.hpp"
#include "lab/report/heat_map.hpp"
#include "lab/report/over_seeds.hpp"

namespace equinorm::lab::report {
namespace {

/// One map on its way: what stands in row y at column x.
struct Grid {
  HeatMap map;
  std::vector<std::vector<Spot>> rows;
};

std::string short_text(double x) { return fmt::format("{:g}", x); }

/// Brings the rows to common columns.
void fill(Grid& grid, const std::vector<Tick>& names) {
  std::set<double> columns;
  for (const auto& row : grid.rows) {
    for (const Spot& spot : row) columns.insert(spot.x);
  }
  for (const double x : columns) {
    const auto name =
        std::find_if(names.begin(), names.end(), [x](const Tick& tick) { return tick.value == x; });
    grid.map.columns.push_back(name == names.end() ? short_text(x) : name->label);
  }
  for (const auto& row : grid.rows) {
    std::map<double, double> by_x;
    for (const Spot& spot : row) by_x[spot.x] = spot.mean;
    std::vector<double> cells;
    for (const double x : columns) {
      const auto found = by_x.find(x);
      cells.push_back(found == by_x.end() ? kNotANumber : found->second);
    }
    grid.map.cells.push_back(std::move(cells));
  }
}

/// The lowest row is the last arm, so that arms are read in their order.
Grid grid_of_arms(const FigureData& data, const Json& panel, SpotTable& table) {
  Grid grid;
  grid.map.title = data.title_of(panel);
  grid.map.y_label = "arm";
  for (auto arm = data.arms().rbegin(); arm != data.arms().rend(); ++arm) {
    grid.map.rows.push_back(*arm);
    grid.rows.push_back(data.spots(*arm, panel));
    table.add(panel, *arm, data.spec().y, grid.rows.back());
  }
  fill(grid, data.x_ticks());
  return grid;
}

/// layer -> step -> values of all seeds.
using LayerValues = std::map<double, std::map<int, std::vector<double>>>;

LayerValues layer_values(const FigureData& data, const std::string& arm, const Json& panel) {
  LayerValues values;
  for (const Cell* cell : data.cells(arm, panel)) {
    if (!cell->best) continue;
    for (const auto& [seed, record] : cell->at_best()->records) {
      const auto found = record->sampled.find(data.spec().y);
      if (found == record->sampled.end()) continue;
      for (const auto& [step, curve] : found->second) {
        for (const auto& [layer, value] : curve) {
          if (std::isfinite(value)) values[layer][step].push_back(value);
        }
      }
    }
  }
  return values;
}

Grid grid_of_layers(const FigureData& data, const std::string& arm, const Json& panel,
                    SpotTable& table) {
  Grid grid;
  grid.map.title = panel.is_null() ? arm : arm + ", " + data.title_of(panel);
  grid.map.y_label = "layer";
  for (const auto& [layer, steps] : layer_values(data, arm, panel)) {
    std::vector<Spot> row;
    for (const auto& [step, values] : steps) {
      const auto [low, high] = std::minmax_element(values.begin(), values.end());
      row.push_back({static_cast<double>(step), geometric_mean(values), *low, *high,
                     static_cast<int>(values.size())});
    }
    grid.map.rows.push_back(short_text(layer));
    table.add(panel, arm, fmt::format("{} {:g}", data.spec().y, layer), row);
    grid.rows.push_back(std::move(row));
  }
  fill(grid, {});
  return grid;
}

/// The ends of the first and the last row in words, for readers who can't see the map.
std::string describe(const HeatMap& map) {
  std::string text;
  for (const std::size_t row : std::set<std::size_t>{0, map.rows.size() - 1}) {
    std::vector<double> finite;
    for (const double value : map.cells.empty() ? std::vector<double>{} : map.cells[row]) {
      if (std::isfinite(value)) finite.push_back(value);
    }
    if (finite.empty()) continue;
    text += fmt::format("{}{} {}: from {:.3g} to {:.3g}", text.empty() ? "" : "; ", map.y_label,
                        map.rows[row], finite.front(), finite.back());
  }
  return text.empty() ? "No finished runs" : text;
}

}  // namespace

Figure heat_map_figure(const FigureData& data) {
  const bool layers = data.spec().x == "step";
  Figure figure = data.empty_figure(layers ? "geometric mean over seeds at the best learning rate, "
                                           : "mean over seeds, ");
  SpotTable table(data);
  std::vector<Grid> grids;
  for (const Json& panel : data.panels()) {
    if (!layers) grids.push_back(grid_of_arms(data, panel, table));
    for (const std::string& arm : data.arms()) {
      if (layers) grids.push_back(grid_of_layers(data, arm, panel, table));
    }
  }
  Range range;
  for (const Grid& grid : grids) {
    for (const auto& row : grid.map.cells) {
      for (const double value : row) {
        if (value > 0) range.include(value);
      }
    }
  }
  const Range colors = rounded(range, true);
  figure.scale = heat_legend(data.id() + "-scale", colors,
                             title_of_metric(data.spec().y_label) + " (log scale)");
  for (std::size_t i = 0; i < grids.size(); ++i) {
    HeatMap& map = grids[i].map;
    map.id = fmt::format("{}-{}", data.id(), i + 1);
    map.x_label = title_of_metric(data.spec().x_label);
    map.range = colors;
    map.description = describe(map);
    figure.panels.push_back(render(map));
  }
  figure.csv = table.csv();
  figure.caption += table.seeds() + "; one colour scale for all panels. Hatched: no finite value.";
  return figure;
}

}  // namespace equinorm::lab::report
