// How a subcommand joins `equinorm`: it declares add_<name> here, defines it in <name>.cpp and is
// listed once in CMakeLists.txt. Does not include CLI11, which costs seconds per including file.
//
// The one trap: callbacks run while CLI11 parses, so they report through exit_code or by throwing
// the two errors below; they never call exit().
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace CLI {
class App;
}

namespace equinorm::cli {

/// What the process tells its caller; the same for every subcommand.
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,       ///< the work failed, or a check did not pass
  kUsage = 2,        ///< the command line is wrong
  kInput = 3,        ///< input is missing or malformed, or I/O failed
  kUnavailable = 4,  ///< this build or machine cannot do it
  kInterrupted = 130,
};

/// Thrown by a callback for a wrong command line: main prints it with a hint and exits with 2.
struct UsageError : std::runtime_error {
  explicit UsageError(const std::string& message, std::string hint_line = "")
      : std::runtime_error(message), hint(std::move(hint_line)) {}
  std::string hint;  ///< "Did you mean --json?", or empty
};

/// Thrown by a callback for bad input or failed I/O: main prints it and exits with 3.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One line per subcommand, in the order of CMakeLists.txt.
void add_compare(CLI::App& app, int& exit_code);
void add_lab(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_forms(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_data(CLI::App& app, int& exit_code);
void add_info(CLI::App& app, int& exit_code);

}  // namespace equinorm::cli
