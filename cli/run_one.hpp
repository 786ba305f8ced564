// One run of `equinorm compare` or `equinorm lab`, in a process of its own.
#pragma once

#include <filesystem>

namespace equinorm::cli {

struct RunOneOptions {
  std::filesystem::path cache;  ///< of prepared data; empty: the lab's default
  bool weights = false;         ///< also weights.safetensors, of a training
};

/// Trains or measures what run_dir/config.json says, with one thread; result.json comes last.
/// Prints "STEPS LOSS" lines, and returns an exit code. Throws the lab's errors.
int run_one(const std::filesystem::path& run_dir, const RunOneOptions& options);

}  // namespace equinorm::cli
