// JSON from files, with complaints for people: which file, and what is wrong in plain words.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "lab/error.hpp"

namespace equinorm::lab {

/// "no complete JSON", or what the library says about a field.
[[nodiscard]] std::string in_words(const nlohmann::json::exception& error);

/// Runs `parse` and gives its errors the place that they are about: a file, or file and line.
template <class Parse>
auto with_place(const std::string& place, Parse&& parse) {
  try {
    return parse();
  } catch (const nlohmann::json::exception& error) {
    throw InputError(place + ": " + in_words(error));
  } catch (const InputError& error) {
    throw InputError(place + ": " + error.what());
  }
}

/// Throws InputError naming the file.
[[nodiscard]] nlohmann::json read_json(const std::filesystem::path& path);

}  // namespace equinorm::lab
