#include "lab/experiment/json_file.hpp"

#include "lab/data/files.hpp"

namespace equinorm::lab {

std::string in_words(const nlohmann::json::exception& error) {
  const bool broken = dynamic_cast<const nlohmann::json::parse_error*>(&error) != nullptr;
  return broken ? "no complete JSON" : "a field is missing or of the wrong kind";
}

nlohmann::json read_json(const std::filesystem::path& path) {
  const std::string text = read_text_file(path);
  return with_place(path.string(), [&] { return nlohmann::json::parse(text); });
}

}  // namespace equinorm::lab
