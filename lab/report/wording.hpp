// How arms, tasks and numbers are written in the report. One wording for text, tables and figures.
#pragma once

#include <string>

#include "lab/experiment/summary.hpp"

namespace equinorm::lab::report {

inline constexpr const char* kPlusMinus = "\u00b1";
inline constexpr const char* kMinus = "\u2212";
inline constexpr const char* kDash = "\u2013";
inline constexpr const char* kSpace = "\u00a0";  // does not break

/// "LayerNorm" for "layer"; named forms are called what they are.
[[nodiscard]] std::string norm_label(const std::string& norm);
/// "Pre-Norm" for "pre"; the name itself where it isn't known.
[[nodiscard]] std::string placement_label(const std::string& placement);
/// "LayerNorm (pre)"; "no norm" or "ReZero" without a norm.
[[nodiscard]] std::string label_of(const Arm& arm);
/// "LayerNorm pre", for narrow places.
[[nodiscard]] std::string short_label_of(const Arm& arm);

/// "Fashion-MNIST", "the Bible's characters", "notes.txt".
[[nodiscard]] std::string label_of_task(const TaskSummary& task);

/// The file or folder name that a task read, "" for built-in tasks.
[[nodiscard]] std::string source_of(const TaskSummary& task);

[[nodiscard]] bool is_accuracy(const TaskSummary& task);

/// "Accuracy" or "Loss".
[[nodiscard]] std::string metric_title(const TaskSummary& task);

/// "84.1 % +- 0.6" or "2.094 +- 0.012"; "84.1 %" without interval; a dash for none.
[[nodiscard]] std::string metric_text(const TaskSummary& task, const Estimate& estimate);

/// "no difference found (+-0.8 points)" or "-4.1 +- 1.2 points"; nats for a loss.
[[nodiscard]] std::string difference_text(const TaskSummary& task, const Estimate& difference);

/// `digits` significant digits, a dash for NaN.
[[nodiscard]] std::string number_text(double value, int digits);

/// Runs at the arm's best rate; empty when none is finished.
[[nodiscard]] const std::vector<const Run*>& best_runs(const ArmSummary& arm);

}  // namespace equinorm::lab::report
