// Figures over depth: gradients per layer and step as heat maps, activation RMS per layer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "lab/report/arm_groups.hpp"
#include "lab/report/csv.hpp"
#include "lab/report/figure.hpp"
#include "lab/report/heat_map.hpp"
#include "lab/report/line_plot.hpp"
#include "lab/report/over_seeds.hpp"
#include "lab/report/wording.hpp"

namespace equinorm::lab::report {
namespace {

std::size_t depth_of(const std::vector<const Run*>& runs) {
  std::size_t depth = 0;
  for (const Run* run : runs) {
    for (const LayerSample& sample : run->layers) depth = std::max(depth, sample.layers.size());
  }
  return depth;
}

std::vector<std::string> depth_rows(std::size_t depth) {
  std::vector<std::string> rows = {"embedding"};
  for (std::size_t i = 1; i <= depth; ++i) rows.push_back(fmt::format("layer {}", i));
  rows.push_back("head");
  return rows;
}

double gradient_at(const LayerSample& sample, std::size_t row, std::size_t depth) {
  if (row == 0) return sample.embedding_grad_norm;
  if (row == depth + 1) return sample.head_grad_norm;
  return row <= sample.layers.size() ? sample.layers[row - 1].total : kNotANumber;
}

HeatMap map_of(const ArmSummary& arm, const std::string& id) {
  const std::vector<const Run*>& runs = best_runs(arm);
  const std::size_t depth = depth_of(runs);
  HeatMap map;
  map.id = id;
  map.title = label_of(arm.arm);
  map.x_label = "step";
  map.y_label = "depth";
  map.rows = depth_rows(depth);
  std::vector<StepValues> rows;
  std::map<int, bool> steps;
  for (const Run* run : runs) {
    for (const LayerSample& sample : run->layers) steps[sample.step] = true;
  }
  for (const auto& [step, present] : steps) map.columns.push_back(std::to_string(step));
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    const StepValues values = gather(runs, [row, depth](const Run& run, const auto& put) {
      for (const LayerSample& sample : run.layers) {
        put(sample.step, gradient_at(sample, row, depth));
      }
    });
    std::vector<double> cells;
    for (const auto& [step, present] : steps) {
      const auto found = values.find(step);
      cells.push_back(found == values.end() ? kNotANumber : geometric_mean(found->second));
    }
    map.cells.push_back(cells);
  }
  return map;
}

// First and last column in words, for readers who can't see the map.
std::string describe(const HeatMap& map) {
  if (map.columns.empty()) return "No samples.";
  const auto ratio = [&map](std::size_t column) {
    const double top = map.cells[map.cells.size() - 2][column];
    const double bottom = map.cells[1][column];
    return top / bottom;
  };
  if (map.cells.size() < 3) return "No layers.";
  return fmt::format(
      "The last layer's gradient is {:.2g} times the first layer's at step {} and {:.2g} times at "
      "step {}.",
      ratio(0), map.columns.front(), ratio(map.columns.size() - 1), map.columns.back());
}

void add_layer_rows(Csv& csv, const TaskSummary& task, const ArmSummary& arm) {
  for (const Run* run : best_runs(arm)) {
    for (const LayerSample& sample : run->layers) {
      const auto add = [&](const std::string& part, const std::string& kind, double value) {
        csv.add({task.task, arm.arm.name(), std::to_string(run->config.seed),
                 std::to_string(sample.step), part, kind, csv_number(value)});
      };
      add("embedding", "total", sample.embedding_grad_norm);
      for (std::size_t i = 0; i < sample.layers.size(); ++i) {
        const LayerGradients& layer = sample.layers[i];
        const std::string part = fmt::format("layer {}", i + 1);
        add(part, "qkv", layer.qkv);
        add(part, "out", layer.out);
        add(part, "fc1", layer.fc1);
        add(part, "fc2", layer.fc2);
        add(part, "gamma", layer.gamma);
        add(part, "beta", layer.beta);
        add(part, "total", layer.total);
      }
      add("final norm", "total", sample.final_norm_grad_norm);
      add("head", "total", sample.head_grad_norm);
    }
  }
}

}  // namespace

Figure gradient_depth(const TaskSummary& task, const std::string& prefix) {
  Figure figure{.id = prefix + "-gradients",
                .title = "Gradients by depth",
                .caption =
                    "Gradient norm before clipping of each layer while training, at the best "
                    "learning rate; geometric mean over seeds, one colour scale for all "
                    "arms. Hatched: no finite value.",
                .legend = {},
                .scale = {},
                .panels = {},
                .csv_name = prefix + "-gradients.csv",
                .csv = {}};
  std::vector<HeatMap> maps;
  Range range;
  Csv csv({"task", "arm", "seed", "step", "part", "kind", "grad_norm"});
  for (const ArmSummary& arm : task.arms) {
    maps.push_back(map_of(arm, fmt::format("{}-{}", figure.id, arm.arm.name())));
    for (const std::vector<double>& row : maps.back().cells) {
      for (const double value : row) {
        if (value > 0) range.include(value);
      }
    }
    add_layer_rows(csv, task, arm);
  }
  const Range scale = rounded(range, true);
  figure.scale = heat_legend(figure.id + "-scale", scale, "gradient norm (log scale)");
  for (HeatMap& map : maps) {
    map.range = scale;
    map.description = describe(map);
    figure.panels.push_back(render(map));
  }
  figure.csv = csv.text();
  return figure;
}

namespace {

// Mean over runs of a layer's activation RMS at the first or last sampled step.
Series activation_series(const ArmSummary& arm, Contrast contrast, bool last) {
  Series series;
  series.name = label_of(arm.arm);
  series.style = style_of_arm(arm.arm, contrast);
  StepValues by_layer = gather(best_runs(arm), [last](const Run& run, const auto& put) {
    if (run.layers.empty()) return;
    const LayerSample& sample = last ? run.layers.back() : run.layers.front();
    for (std::size_t i = 0; i < sample.activation_rms.size(); ++i) {
      put(static_cast<int>(i) + 1, sample.activation_rms[i]);
    }
  });
  add_to(series, by_layer);
  return series;
}

std::string activation_csv(const TaskSummary& task) {
  Csv csv(
      {"task", "arm", "seed", "step", "layer", "activation_rms", "activation_max", "branch_ratio"});
  const auto at = [](const std::vector<double>& values, std::size_t i) {
    return i < values.size() ? csv_number(values[i]) : "";
  };
  for (const ArmSummary& arm : task.arms) {
    for (const Run* run : best_runs(arm)) {
      for (const LayerSample& sample : run->layers) {
        for (std::size_t i = 0; i < sample.activation_rms.size(); ++i) {
          csv.add({task.task, arm.arm.name(), std::to_string(run->config.seed),
                   std::to_string(sample.step), std::to_string(i + 1), at(sample.activation_rms, i),
                   at(sample.activation_max, i), at(sample.branch_ratio, i)});
        }
      }
    }
  }
  return csv.text();
}

}  // namespace

Figure activation_rms(const TaskSummary& task, const std::string& prefix) {
  Figure figure{.id = prefix + "-activations",
                .title = "Activations by depth",
                .caption =
                    "Root mean square of the residual stream after each layer, mean and range "
                    "over seeds.",
                .legend = arm_legend(task),
                .scale = {},
                .panels = {},
                .csv_name = prefix + "-activations.csv",
                .csv = activation_csv(task)};
  const Contrast contrast = contrast_of(task);
  Range x, y;
  for (const ArmSummary& arm : task.arms) {
    for (const bool last : {false, true}) {
      for (const Point& point : activation_series(arm, contrast, last).line) {
        x.include(point.x);
        y.include(point.y);
      }
    }
  }
  std::vector<double> layers;
  for (double layer = 1; layer <= x.high; layer += std::ceil(x.high / 12)) layers.push_back(layer);
  for (const bool last : {false, true}) {
    LinePlot plot;
    plot.id = figure.id + (last ? "-last" : "-first");
    plot.title = last ? "At the last sampled step" : "At the first sampled step";
    plot.description = "Lines rise where the residual stream grows with depth.";
    plot.x = {"layer", false, x.high > 1 ? Range{1, x.high, true} : Range{0, 2, true},
              ticks_at(layers)};
    plot.y = {"RMS (log scale)", true, rounded(y, true), {}};
    for (const ArmSummary& arm : task.arms)
      plot.series.push_back(activation_series(arm, contrast, last));
    figure.panels.push_back(render(plot));
  }
  return figure;
}

}  // namespace equinorm::lab::report
