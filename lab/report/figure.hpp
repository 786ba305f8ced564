// A figure of the report: panels, legend, caption and the numbers behind it.
#pragma once

#include <string>
#include <vector>

#include "lab/experiment/run_store.hpp"
#include "lab/experiment/summary.hpp"
#include "lab/report/numerics_data.hpp"

namespace equinorm::lab::report {

struct LegendEntry {
  std::string swatch;  ///< inline SVG
  std::string name;
};

struct Figure {
  std::string id;
  std::string title;
  std::string caption;
  std::vector<LegendEntry> legend;
  std::string scale;                ///< inline SVG above the panels, or empty
  std::vector<std::string> panels;  ///< inline SVGs
  std::string csv_name;
  std::string csv;
  std::string command{};  ///< that gives these numbers again; may be empty
};

/// Held-out loss and accuracy over steps, mean and range over seeds. `prefix` makes ids unique.
[[nodiscard]] Figure learning_curves(const TaskSummary& task, const std::string& prefix);

/// The task's metric over learning rates, with marks for failed runs.
[[nodiscard]] Figure rate_sensitivity(const TaskSummary& task, const std::string& prefix);

/// Total gradient norm before clipping over steps.
[[nodiscard]] Figure gradient_norms(const TaskSummary& task, const std::string& prefix);

/// Gradient norm by depth and step, one heat map per arm.
[[nodiscard]] Figure gradient_depth(const TaskSummary& task, const std::string& prefix);

/// Activation RMS by depth, at the first and the last sample.
[[nodiscard]] Figure activation_rms(const TaskSummary& task, const std::string& prefix);

/// Milliseconds of a step by kind of work.
[[nodiscard]] Figure time_split(const TaskSummary& task, const std::string& prefix);

/// Rounding error against offset and scale.
[[nodiscard]] Figure numerics_panel(const Numerics& numerics);

}  // namespace equinorm::lab::report
