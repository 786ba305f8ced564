// Everything in a lab's folder, planned, read and judged.
//
// The one trap: results point into the records and declarations, so a LabResults stays where it is.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lab/evidence/claims.hpp"
#include "lab/evidence/lab_folder.hpp"
#include "lab/evidence/plan.hpp"
#include "lab/evidence/results.hpp"

namespace equinorm::lab {

struct LabResults {
  std::vector<StoredExperiment> stored;
  std::unique_ptr<RecordStore> store;
  std::vector<ExperimentResults> results;  ///< one per stored experiment, in that order
  ClaimList claims;
  std::vector<ClaimRow> rows;
  Environments environments;
};

/// Damaged runs count as missing and damaged environments are left out: render_damage(). Throws
/// InputError naming any other file that cannot be read.
[[nodiscard]] std::unique_ptr<LabResults> load_lab(const std::filesystem::path& out_dir,
                                                   const RunKinds& kinds);

/// Throws as load_lab would for what a run of `experiments` leaves as it is: other experiments.
/// Nothing where the folder is empty.
void check_stored(const std::filesystem::path& out_dir, const RunKinds& kinds,
                  const std::set<std::string>& experiments);

/// A line of warning per damaged run or environment; empty where there is none.
[[nodiscard]] std::string render_damage(const LabResults& lab);

/// "No finding, being of the smoke tier: E1, E2."; empty where there is none.
[[nodiscard]] std::string smoke_note(const LabResults& lab);

/// The verdicts as aligned text; `all`: also the claims that no stored experiment is about.
[[nodiscard]] std::string render_verdicts(const LabResults& lab, bool all);

/// "7 of 30 runs", over all experiments.
[[nodiscard]] std::string count_runs(const LabResults& lab);

/// Runs planned, done, missing and crashed of each experiment.
[[nodiscard]] std::string render_status(const LabResults& lab);

/// The same for other programs.
[[nodiscard]] nlohmann::json export_status(const LabResults& lab);

/// Verdicts and cells for other programs; numbers that do not exist are null.
[[nodiscard]] nlohmann::json export_lab(const LabResults& lab);

}  // namespace equinorm::lab
