// Declarations in JSON: the same tables, lists and values as in TOML, which programs write more
// easily.
#pragma once

#include <string>

namespace equinorm::lab {

/// The TOML that says the same; `file` is for complaints. Throws InputError for what is no JSON
/// object or has no counterpart in TOML (null, integers beyond 64 bits).
[[nodiscard]] std::string toml_of_json(const std::string& text, const std::string& file);

}  // namespace equinorm::lab
