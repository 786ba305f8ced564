#include "lab/report/wording.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <vector>

#include "lab/models/placement.hpp"

namespace equinorm::lab::report {
namespace {

// The shared wording writes ASCII; a page can do better.
std::string typeset(std::string text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool before_digit = i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9';
    if (text.compare(i, 2, "+-") == 0) {
      out += kPlusMinus;
      ++i;
    } else if (text[i] == '-' && before_digit) {
      out += kMinus;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string quoted(const char* what, const std::string& name) {
  return fmt::format("{} \u201c{}\u201d", what, name);
}

}  // namespace

std::string norm_label(const std::string& norm) {
  if (norm == "layer") return "LayerNorm";
  if (norm == "rms") return "RMSNorm";
  if (norm == "batch") return "BatchNorm";
  if (norm == "none") return "no norm";
  return norm;
}

std::string placement_label(const std::string& placement) {
  const Placement* found = find_placement(placement);
  return found == nullptr ? placement : found->title;
}

std::string label_of(const Arm& arm) {
  return arm.norm == "none" ? placement_label(arm.name())
                            : fmt::format("{} ({})", norm_label(arm.norm), arm.placement);
}

std::string short_label_of(const Arm& arm) {
  return arm.norm == "none" ? placement_label(arm.name())
                            : fmt::format("{} {}", norm_label(arm.norm), arm.placement);
}

std::string source_of(const TaskSummary& task) {
  for (const ArmSummary& arm : task.arms) {
    for (const RateSummary& rate : arm.rates) {
      for (const Run* run : rate.runs) {
        if (!run->config.source.empty()) {
          return std::filesystem::path(run->config.source).filename().string();
        }
      }
    }
  }
  return "";
}

std::string label_of_task(const TaskSummary& task) {
  if (task.task == "fashion-mnist") return "Fashion-MNIST";
  if (task.task == "bible") return "Bible text";
  const std::string source = source_of(task);
  if (task.task == "text") return source.empty() ? "Text" : quoted("Text", source);
  if (task.task == "idx") return source.empty() ? "Images" : quoted("Images", source);
  return task.task;
}

bool is_accuracy(const TaskSummary& task) { return task.metric == "accuracy"; }

std::string metric_title(const TaskSummary& task) {
  return is_accuracy(task) ? "Accuracy" : "Loss";
}

std::string metric_text(const TaskSummary& task, const Estimate& estimate) {
  if (estimate.n == 0 || !std::isfinite(estimate.mean)) return kDash;
  const bool percent = is_accuracy(task);
  const double scale = percent ? 100 : 1;
  const int digits = percent ? 1 : 3;
  std::string text = fmt::format("{:.{}f}", estimate.mean * scale, digits);
  if (percent) text += std::string(kSpace) + "%";
  if (estimate.has_interval()) {
    text += fmt::format("{}{}{}{:.{}f}", kSpace, kPlusMinus, kSpace, estimate.half_width * scale,
                        digits);
  }
  return text;
}

std::string difference_text(const TaskSummary& task, const Estimate& difference) {
  if (!difference.can_find()) return "needs three seeds";
  const bool percent = is_accuracy(task);
  std::string text = typeset(describe_difference(difference, percent ? 100 : 1, percent ? 1 : 3));
  const std::string unit = kSpace + std::string(percent ? "points" : "nats");
  const std::size_t place = text.back() == ')' ? text.size() - 1 : text.size();
  return text.insert(place, unit);
}

std::string number_text(double value, int digits) {
  if (!std::isfinite(value)) return kDash;
  if (std::fabs(value) < 1e5 || std::fabs(value) >= 1e15) {
    return typeset(fmt::format("{:.{}g}", value, digits));
  }
  // 1600000 reads better than 1.6e+06, in groups of three with a narrow space.
  const double unit = std::pow(10.0, std::floor(std::log10(std::fabs(value))) - (digits - 1));
  std::string text = fmt::format("{:.0f}", std::round(value / unit) * unit);
  const int first = value < 0 ? 1 : 0;
  for (int at = static_cast<int>(text.size()) - 3; at > first; at -= 3) {
    text.insert(static_cast<std::size_t>(at), "\u202f");
  }
  return typeset(text);
}

const std::vector<const Run*>& best_runs(const ArmSummary& arm) {
  static const std::vector<const Run*> kNone;
  return arm.best ? arm.rates[*arm.best].runs : kNone;
}

}  // namespace equinorm::lab::report
