#include "lab/data/labelled_text.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

constexpr std::size_t kRun = 10;  // lines

struct Line {
  std::string label;
  std::vector<std::string> words;
};

std::vector<Line> split_lines(std::string_view text, const std::string& name) {
  std::vector<Line> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t tab = line.find('\t');
    const auto fail = [&](const std::string& rule) {
      throw InputError(name + ": line " + std::to_string(lines.size() + 1) + ": " + rule);
    };
    if (tab == std::string_view::npos) fail("must be label and text with a tab between");
    lines.push_back({std::string(line.substr(0, tab)), lower_case_words(line.substr(tab + 1))});
    if (lines.back().words.empty()) fail("has no word");
  }
  if (lines.size() < 2 * kRun) {
    throw InputError(name + " has " + std::to_string(lines.size()) + " texts; at least " +
                     std::to_string(2 * kRun) + " are needed");
  }
  return lines;
}

bool is_test(std::size_t line) { return line / kRun % 10 == 0; }

std::unordered_map<std::string, std::uint16_t> vocabulary_of(const std::vector<Line>& lines) {
  std::map<std::string, std::size_t> counts;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_test(i)) continue;
    for (const std::string& word : lines[i].words) ++counts[word];
  }
  std::vector<std::pair<std::string, std::size_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::unordered_map<std::string, std::uint16_t> ids;
  for (const auto& [word, count] : order) {
    if (count < 2 || ids.size() + 2 == kMostWords) break;
    ids.emplace(word, static_cast<std::uint16_t>(ids.size() + 2));
  }
  return ids;
}

}  // namespace

std::vector<std::string> lower_case_words(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : text) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool letter = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9') ||
                        static_cast<unsigned char>(lower) >= 0x80;
    if (letter && !inside) words.emplace_back();
    if (letter) words.back() += lower;
    inside = letter;
  }
  return words;
}

LabelledTexts read_labelled_texts(std::string_view text, const std::string& name) {
  const std::vector<Line> lines = split_lines(text, name);
  LabelledTexts texts;
  std::map<std::string, std::uint8_t> labels;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!is_test(i)) labels[lines[i].label] = 0;
  }
  if (labels.size() < 2 || labels.size() > 255) {
    throw InputError(name + " has " + std::to_string(labels.size()) +
                     " labels in its training texts; must be 2 to 255");
  }
  for (auto& [label, id] : labels) {
    id = static_cast<std::uint8_t>(texts.classes.size());
    texts.classes.push_back(label);
  }
  const auto ids = vocabulary_of(lines);
  texts.vocabulary = ids.size() + 2;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto label = labels.find(lines[i].label);
    if (label == labels.end()) {
      throw InputError(name + ": line " + std::to_string(i + 1) + ": label '" + lines[i].label +
                       "' is in no training text");
    }
    LabelledText encoded{{}, label->second};
    for (const std::string& word : lines[i].words) {
      const auto known = ids.find(word);
      encoded.words.push_back(known == ids.end() ? kUnknownWord : known->second);
    }
    (is_test(i) ? texts.test : texts.train).push_back(std::move(encoded));
  }
  return texts;
}

}  // namespace equinorm::lab
