// The data of a run in memory, from the cache or from the user's own files.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <variant>

#include "lab/data/idx.hpp"
#include "lab/data/labelled_text.hpp"
#include "lab/data/parallel_text.hpp"
#include "lab/data/text.hpp"
#include "lab/run_config.hpp"

namespace equinorm::lab {

struct Dataset {
  std::string name;    ///< for messages: title of the set, or the user's path
  std::string sha256;  ///< of the one file, or of the list of the files' sums
  /// Nothing where the task generates its data.
  std::variant<ImageData, TextData, ParallelText, LabelledTexts, std::monostate> content;
};

/// Throws UsageError where config.task has no data of its own and config.source names none.
void check_source(const RunConfig& config);

/// Reads the data of config.task: a set of the catalogue or, where config.source says so, the
/// user's own file or directory. An empty cache_dir is default_cache_dir(). Equal requests share
/// one copy for as long as somebody holds it. Throws UsageError for an unknown task, a missing
/// source and a task that takes none, InputError for missing or damaged data.
std::shared_ptr<const Dataset> load_dataset(const RunConfig& config,
                                            const std::filesystem::path& cache_dir = {});

/// Fills config.source_sha256 and makes config.source absolute. Returns the data: while it is held,
/// runs in this process and in processes forked from it need not read it again. Throws as
/// load_dataset does, and for a text that is too short for config.context.
std::shared_ptr<const Dataset> resolve_source(RunConfig& config,
                                              const std::filesystem::path& cache_dir = {});

}  // namespace equinorm::lab
