#include "process.hpp"

#include <fstream>

#include "command.hpp"

namespace equinorm::cli {

namespace fs = std::filesystem;

std::string command_line() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string line;
  for (std::string argument; std::getline(in, argument, '\0');) {
    constexpr const char* kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
    if (argument.empty() || argument.find_first_not_of(kPlain) != std::string::npos) {
      std::string quoted = "'";
      for (const char c : argument) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
      argument = quoted + "'";
    }
    line += (line.empty() ? "" : " ") + argument;
  }
  return line;
}

std::vector<std::string> child_command(const fs::path& cache, bool weights) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) throw InputError("/proc/self/exe: cannot be read: " + error.message());
  std::vector<std::string> command = {program.string(), "run-one"};
  if (!cache.empty()) command.insert(command.end(), {"--cache", cache.string()});
  if (weights) command.emplace_back("--weights");
  return command;
}

}  // namespace equinorm::cli
