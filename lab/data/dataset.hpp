// The data of a run in memory, from the cache or from the user's own files.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <variant>

#include "lab/data/idx.hpp"
#include "lab/data/text.hpp"
#include "lab/run_config.hpp"

namespace equinorm::lab {

struct Dataset {
  std::string name;    ///< for messages: title of the set, or the user's path
  std::string sha256;  ///< text: of its bytes; images: of the list of the four files' sums
  std::variant<ImageData, TextData> content;
};

/// Reads the data of config.task: "fashion-mnist", "bible", "text" (config.source is a file) or
/// "idx" (config.source is a directory). An empty cache_dir is default_cache_dir(). Equal requests
/// share one copy for as long as somebody holds it. Throws UsageError for an unknown task or a
/// missing source, InputError for missing or damaged data.
std::shared_ptr<const Dataset> load_dataset(const RunConfig& config,
                                            const std::filesystem::path& cache_dir = {});

/// Fills config.source_sha256 and makes config.source absolute. Throws as load_dataset does, and
/// for a text that is too short for config.context.
void resolve_source(RunConfig& config, const std::filesystem::path& cache_dir = {});

}  // namespace equinorm::lab
