// Where a declaration is wrong, for complaints.
#pragma once

#include <string>

namespace equinorm::lab {

/// "file:line"; the file alone where it is JSON, which is read as the TOML that says the same.
[[nodiscard]] inline std::string place_in(const std::string& file, int line) {
  const bool is_json = file.size() > 5 && file.compare(file.size() - 5, 5, ".json") == 0;
  return is_json ? file : file + ":" + std::to_string(line);
}

}  // namespace equinorm::lab
