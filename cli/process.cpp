#include "process.hpp"

#include <fstream>

namespace equinorm::cli {

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

}  // namespace equinorm::cli
