// The folder of a lab: which experiments were asked for, and how. What they are made of lies in
// runs/, shared by all of them.
//
//   OUT/experiments/ID.toml       the declaration as it was when it was run
//   OUT/experiments/ID.json       tier, seeds, checksums of the data
//   OUT/environments/HASH.json    machines and builds that ran here
//   OUT/runs/RUN                  one directory per run (docs/runs.md)
//
// Folders of shards may be copied into one: equal files are equal, and nothing else is shared.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lab/evidence/declaration.hpp"
#include "lab/evidence/plan.hpp"

namespace equinorm::lab {

struct StoredExperiment {
  Declaration declaration;
  LabRequest request;
};

/// Writes both files, atomically; throws InputError.
void store_experiment(const std::filesystem::path& out_dir, const StoredExperiment& experiment);

void store_environment(const std::filesystem::path& out_dir,
                       const std::map<std::string, std::string>& environment);

/// Those that come with the program first, in their order, then the user's by name. Throws
/// InputError naming the file; also where the folder is none of a lab.
[[nodiscard]] std::vector<StoredExperiment> load_experiments(const std::filesystem::path& out_dir);

/// Those whose id is not among `except`; none where the folder is empty.
[[nodiscard]] std::vector<StoredExperiment> load_other_experiments(
    const std::filesystem::path& out_dir, const std::set<std::string>& except);

struct Environments {
  std::vector<std::map<std::string, std::string>> all;  ///< in the order of their hashes
  std::vector<std::string> damaged;                     ///< what is wrong with the other files
};

[[nodiscard]] Environments load_environments(const std::filesystem::path& out_dir);

/// The declaration that comes with the program under this id, or that of a .toml or .json file.
/// Throws InputError with the list of ids.
[[nodiscard]] Declaration find_declaration(const std::string& id_or_file);

/// True where an experiment of this id comes with the program.
[[nodiscard]] bool is_builtin(const std::string& id);

/// Throws InputError for another declaration under such an id, which would take the place of the
/// program's own in a folder.
void refuse_changed_builtin(const Declaration& declaration);

/// All that come with the program.
[[nodiscard]] std::vector<Declaration> builtin_declarations();

}  // namespace equinorm::lab
