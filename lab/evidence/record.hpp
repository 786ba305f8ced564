// What a finished run left, of whatever kind: named numbers and curves. Everything behind this
// header (statistics, verdicts, report) knows no difference between a training and a measurement.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "lab/evidence/measurement.hpp"
#include "lab/experiment/job.hpp"

namespace equinorm::lab {

struct Record {
  std::string failure;                    ///< of a training run: "non-finite", "stall" or "blow-up"
  std::map<std::string, double> metrics;  ///< finite ones
  std::map<std::string, Curve> series;
  std::map<std::string, std::string> notes;  ///< words of the run, by name
  /// Series of layers that were sampled while training: name -> step -> (layer, value).
  std::map<std::string, std::map<int, Curve>> sampled;

  [[nodiscard]] bool failed() const { return !failure.empty(); }
  /// A run that stalled got to its end, and what it ended with counts; one that broke did not, or
  /// ended where no number means anything.
  [[nodiscard]] bool stalled() const { return failure == "stall"; }
  [[nodiscard]] bool broke() const { return failed() && !stalled(); }
  /// NaN where there is no such metric.
  [[nodiscard]] double metric(const std::string& name) const;
};

/// Reads a finished run; throws InputError naming the file and what is wrong with it.
[[nodiscard]] Record load_record(const std::filesystem::path& run_dir);

/// True when the directory holds the whole result of exactly this job.
[[nodiscard]] bool is_finished_job(const Job& job, const std::filesystem::path& run_dir);

}  // namespace equinorm::lab
