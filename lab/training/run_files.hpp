// The files of one run directory (docs/runs.md), written as the run goes along.
//
// The one trap: result.json is the mark of a finished run, so it is removed first and written last.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lab/run_config.hpp"
#include "lab/train.hpp"

namespace equinorm::lab {

class RunFiles {
 public:
  /// Creates the directory, removes the files of an earlier attempt and writes config.json.
  RunFiles(const std::filesystem::path& directory, const RunConfig& config);

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

  /// One line of metrics.jsonl; non-finite numbers become null.
  void write_event(const nlohmann::ordered_json& event);
  /// Syncs metrics.jsonl, then writes timing.json, then result.json.
  void finish(const RunOutcome& outcome);

 private:
  std::filesystem::path directory_;
  std::ofstream metrics_;
};

}  // namespace equinorm::lab
