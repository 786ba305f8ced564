#include "lab/data/packages.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "lab/data/labelled_text.hpp"

namespace equinorm::lab {
namespace {

constexpr std::array<std::string_view, 10> kSections = {
    "games", "science", "sound", "fonts", "mail", "graphics", "net", "math", "editors", "admin"};
constexpr std::size_t kComparedWords = 20;

std::string_view field(std::string_view record, std::string_view name) {
  std::size_t at = record.starts_with(name) ? 0 : std::string_view::npos;
  if (at != 0) {
    at = record.find(std::string("\n").append(name));
    if (at == std::string_view::npos) return {};
    ++at;
  }
  const std::size_t begin = at + name.size();
  return record.substr(begin, std::min(record.find('\n', begin), record.size()) - begin);
}

std::string beginning(std::string_view description) {
  std::string text;
  const std::vector<std::string> words = lower_case_words(description);
  for (std::size_t i = 0; i < std::min(words.size(), kComparedWords); ++i) {
    text.append(words[i]).append(" ");
  }
  return text;
}

}  // namespace

std::string label_packages(std::string_view dumpavail) {
  std::string lines;
  std::set<std::string> seen;
  while (!dumpavail.empty()) {
    const std::size_t end = std::min(dumpavail.find("\n\n"), dumpavail.size());
    const std::string_view record = dumpavail.substr(0, end);
    dumpavail.remove_prefix(std::min(end + 2, dumpavail.size()));
    const std::string_view section = field(record, "Section: ");
    const std::string_view description = field(record, "Description: ");
    const bool wanted = std::find(kSections.begin(), kSections.end(), section) != kSections.end();
    if (!wanted || description.find('\t') != std::string_view::npos) continue;
    const std::string words = beginning(description);
    if (words.empty() || !seen.insert(words).second) continue;
    lines.append(section).append("\t").append(description).append("\n");
  }
  return lines;
}

}  // namespace equinorm::lab
