// `equinorm lab run`: what it is asked for and its course.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/evidence/lab_results.hpp"
#include "lab/evidence/plan.hpp"

namespace equinorm::cli {

struct LabRunOptions {
  std::vector<std::string> experiments;
  std::string tier = "quick";
  std::string out = "out/lab";
  std::string cache;
  std::optional<std::string> shard;  ///< "1/4"
  int jobs = 1;
  std::optional<int> seeds;
  bool quiet = false;
  bool json = false;
  bool tensorboard = false;
  bool weights = false;
};

/// What runs are made of in this program.
[[nodiscard]] lab::RunKinds run_kinds();

/// load_lab(), with warnings of damaged runs on standard error.
[[nodiscard]] std::unique_ptr<lab::LabResults> load_lab_aloud(const std::string& folder);

/// Throws UsageError for an empty path.
void require_folder(const std::string& option, const std::string& path);

/// Returns an exit code; throws what main knows.
int lab_run(const LabRunOptions& options);

}  // namespace equinorm::cli
