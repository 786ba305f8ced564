// This process as others start it: its command line, and the one of its children.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace equinorm::cli {

/// The command line of this process, quoted so that a shell reads it back.
[[nodiscard]] std::string command_line();

/// Program and first arguments of a child that does one run; the run directory is appended. An
/// empty `cache` is the lab's default; `weights` asks for those of a training.
[[nodiscard]] std::vector<std::string> child_command(const std::filesystem::path& cache,
                                                     bool weights);

}  // namespace equinorm::cli
