#include "lab/experiment/json_file.hpp"

#include "lab/data/files.hpp"

namespace equinorm::lab {

std::string in_words(const nlohmann::json::exception& error) {
  if (dynamic_cast<const nlohmann::json::parse_error*>(&error) != nullptr) {
    return "no complete JSON";
  }
  const std::string text = error.what();  // "[json.exception.type_error.302] type must be ..."
  const std::size_t end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

nlohmann::json read_json(const std::filesystem::path& path) {
  const std::string text = read_text_file(path);
  return with_place(path.string(), [&] { return nlohmann::json::parse(text); });
}

}  // namespace equinorm::lab
