// This process as others start it.
#pragma once

#include <string>

namespace equinorm::cli {

/// The command line of this process, quoted so that a shell reads it back.
[[nodiscard]] std::string command_line();

}  // namespace equinorm::cli
