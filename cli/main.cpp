// `equinorm`: assembles the subcommands, parses the command line and turns errors into exit codes.
// Knows nothing of what the subcommands do.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "build_info.hpp"
#include "command.hpp"
#include "hint.hpp"
#include "lab/error.hpp"

namespace {

using namespace equinorm::cli;

// What is opened in the place of a closed standard descriptor would get what is printed there. The
// wrong mode keeps reading and results an error; messages are lost.
void fill_standard_descriptors() {
  constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) static_cast<void>(::open("/dev/null", kModes[fd]));
  }
}

// "equinorm lab run": down to the last command that was given.
std::string command_of(const CLI::App& app) {
  const auto used = app.get_subcommands();
  return app.get_name() + (used.empty() ? "" : " " + command_of(*used.back()));
}

int report_usage(const CLI::App& app, const std::string& message, const std::string& hint) {
  const std::string command = command_of(app);
  fmt::print(stderr, "{}: {}\n", command, message);
  if (!hint.empty()) fmt::print(stderr, "{}\n", hint);
  fmt::print(stderr, "Try '{} --help'.\n", command);
  return kUsage;
}

int report_parse_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  if (app.get_subcommands().empty()) {
    const Unknown unknown = explain_missing_command(app, argc, argv);
    return report_usage(app, unknown.message, unknown.hint);
  }
  // A misspelled word also makes what it should have been missing; it is the better thing to name.
  const bool extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                      dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (extras && !app.remaining(true).empty()) {
    const Unknown unknown = explain_unknown(app);
    return report_usage(app, unknown.message, unknown.hint);
  }
  return report_usage(app, error.what(), "");
}

// The words behind the program's name, the last one first, as CLI11 wants them. What follows "--"
// CLI11 would take from explain and give to the program; explain knows numbers without it.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words[0] == "explain") std::erase(words, "--");
  std::reverse(words.begin(), words.end());
  return words;
}

int run(int argc, char** argv) {
  CLI::App app{
      "Normalization for Transformers: kernels under a numerics contract, and a lab that "
      "measures claims about them.",
      "equinorm"};
  int exit_code = kDone;
  app.set_version_flag("--version", version_line());
  app.require_subcommand(1);
  app.footer(
      "Example:\n"
      "  equinorm explain 1000 1001 999\n\n"
      "'equinorm COMMAND --help' explains a command.\n"
      "Exit codes: 0 done, 1 failed or check not passed, 2 usage, 3 input or I/O,\n"
      "4 not available here, 130 interrupted.");
#define EQUINORM_COMMAND(name) add_##name(app, exit_code);
#include "commands.inc"  // generated from CMakeLists.txt
#undef EQUINORM_COMMAND

  try {
    app.parse(words_of(argc, argv));
  } catch (const CLI::ParseError& error) {
    return report_parse_error(app, error, argc, argv);
  } catch (const UsageError& error) {
    return report_usage(app, error.what(), error.hint);
  } catch (const InputError& error) {
    fmt::print(stderr, "{}: {}\n", command_of(app), error.what());
    return kInput;
  } catch (const equinorm::lab::LabError& error) {
    if (error.exit_code() == kUsage) return report_usage(app, error.what(), "");
    fmt::print(stderr, "{}: {}\n", command_of(app), error.what());
    return error.exit_code();
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_descriptors();
  int exit_code = kFailed;
  try {
    exit_code = run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("equinorm: not enough memory\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "equinorm: %s\n", error.what());
  }
  // A full disk or closed pipe shows only here.
  if (std::fflush(stdout) != 0 && exit_code == kDone) {
    std::perror("equinorm: standard output");
    return kInput;
  }
  return exit_code;
}
