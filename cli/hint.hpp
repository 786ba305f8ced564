// Turns "not expected" into the command or option that was probably meant.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace equinorm::cli {

struct Unknown {
  std::string message;  ///< "unknown option --jsn"
  std::string hint;     ///< "Did you mean --json?", or empty
};

/// For an option that `app` does not have: "--jsn".
Unknown explain_unknown_option(const CLI::App& app, const std::string& word);

/// For arguments that the chosen subcommand does not know.
Unknown explain_unknown(const CLI::App& app);

/// For a command line without a known subcommand.
Unknown explain_missing_command(const CLI::App& app, int argc, char** argv);

}  // namespace equinorm::cli
