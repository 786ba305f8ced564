#include "lab/training/text_scores.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "lab/data/utf8.hpp"

namespace equinorm::lab {
namespace {

constexpr std::size_t kBleuOrder = 4;
constexpr std::size_t kChrfOrder = 6;
constexpr double kBetaSquared = 4;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_stop(char c) { return c == '.' || c == ','; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// ASCII punctuation but apostrophe, comma, hyphen and full stop.
bool is_separated(char c) {
  const bool mark = (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
                    (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
  return mark;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// One pass of a regular expression over two characters in a row, as re.sub makes it: matches don't
// overlap. `first` and `second` say what matches, `join` what stands there afterwards.
template <class Matches, class Join>
std::string replace_pairs(const std::string& text, Matches&& matches, Join&& join) {
  std::string out;
  std::size_t i = 0;
  while (i < text.size()) {
    if (i + 1 < text.size() && matches(text[i], text[i + 1])) {
      join(out, text[i], text[i + 1]);
      i += 2;
    } else {
      out += text[i++];
    }
  }
  return out;
}

using Counts = std::map<std::string, std::int64_t>;

struct Matches {
  std::int64_t translation = 0;
  std::int64_t reference = 0;
  std::int64_t common = 0;

  void add(const Counts& of_translation, const Counts& of_reference) {
    for (const auto& [gram, count] : of_reference) reference += count;
    for (const auto& [gram, count] : of_translation) {
      translation += count;
      const auto found = of_reference.find(gram);
      if (found != of_reference.end()) common += std::min(count, found->second);
    }
  }
};

// n-grams of parts, joined by a byte that no text holds.
template <class Part>
Counts grams(const std::vector<Part>& parts, std::size_t order) {
  Counts counts;
  for (std::size_t i = 0; i + order <= parts.size(); ++i) {
    std::string gram;
    for (std::size_t k = 0; k < order; ++k) (gram += parts[i + k]) += '\0';
    ++counts[gram];
  }
  return counts;
}

class Bleu {
 public:
  void add(const std::string& translation, const std::string& reference) {
    const std::vector<std::string> left = tokens_13a(translation);
    const std::vector<std::string> right = tokens_13a(reference);
    translation_size_ += static_cast<double>(left.size());
    reference_size_ += static_cast<double>(right.size());
    for (std::size_t n = 0; n < kBleuOrder; ++n) {
      matches_[n].add(grams(left, n + 1), grams(right, n + 1));
    }
  }

  [[nodiscard]] double score() const {
    double logarithms = 0;
    double smoothing = 1;
    bool any = false;
    for (const Matches& m : matches_) any = any || m.common > 0;
    if (!any) return 0;
    for (const Matches& m : matches_) {
      if (m.translation == 0) return 0;
      auto common = static_cast<double>(m.common);
      if (m.common == 0) common = 1 / (smoothing *= 2);
      logarithms += std::log(common / static_cast<double>(m.translation));
    }
    const bool is_short = translation_size_ < reference_size_;
    const double brevity = is_short ? std::exp(1 - reference_size_ / translation_size_) : 1;
    return 100 * brevity * std::exp(logarithms / kBleuOrder);
  }

 private:
  std::array<Matches, kBleuOrder> matches_{};
  double translation_size_ = 0;
  double reference_size_ = 0;
};

std::vector<std::string_view> characters_without_spaces(const std::string& line) {
  std::vector<std::string_view> characters;
  for (const std::string_view character : utf8_characters(line)) {
    if (!is_space(character[0])) characters.push_back(character);
  }
  return characters;
}

class Chrf {
 public:
  void add(const std::string& translation, const std::string& reference) {
    const auto left = characters_without_spaces(translation);
    const auto right = characters_without_spaces(reference);
    for (std::size_t n = 0; n < kChrfOrder; ++n) {
      const Counts of_reference = grams(right, n + 1);
      Matches sentence;
      sentence.add(grams(left, n + 1), of_reference);
      // n-grams count only where the reference is long enough to have some.
      matches_[n].translation += of_reference.empty() ? 0 : sentence.translation;
      matches_[n].reference += sentence.reference;
      matches_[n].common += sentence.common;
    }
  }

  [[nodiscard]] double score() const {
    double precision = 0;
    double recall = 0;
    int orders = 0;
    for (const Matches& m : matches_) {
      if (m.translation == 0 || m.reference == 0) continue;
      precision += static_cast<double>(m.common) / static_cast<double>(m.translation);
      recall += static_cast<double>(m.common) / static_cast<double>(m.reference);
      ++orders;
    }
    if (orders == 0 || precision + recall == 0) return 0;
    precision /= orders;
    recall /= orders;
    return 100 * (1 + kBetaSquared) * precision * recall / (kBetaSquared * precision + recall);
  }

 private:
  std::array<Matches, kChrfOrder> matches_{};
};

}  // namespace

std::vector<std::string> tokens_13a(const std::string& line) {
  std::string text = line;
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");
  std::string spaced;
  for (const char c : " " + text + " ") {
    spaced += is_separated(c) ? std::string{' ', c, ' '} : std::string{c};
  }
  const auto split = [](std::string& out, char a, char b) { out += {a, ' ', b, ' '}; };
  spaced = replace_pairs(
      spaced, [](char a, char b) { return !is_digit(a) && is_stop(b); }, split);
  spaced = replace_pairs(
      spaced, [](char a, char b) { return is_stop(a) && !is_digit(b); },
      [](std::string& out, char a, char b) {
        out += {' ', a, ' ', b};
      });
  spaced = replace_pairs(
      spaced, [](char a, char b) { return is_digit(a) && b == '-'; }, split);
  std::vector<std::string> tokens;
  bool inside = false;
  for (const char c : spaced) {
    if (!is_space(c)) {
      if (!inside) tokens.emplace_back();
      tokens.back() += c;
    }
    inside = !is_space(c);
  }
  return tokens;
}

TextScores score_translations(const std::vector<std::string>& translations,
                              const std::vector<std::string>& references) {
  Bleu bleu;
  Chrf chrf;
  for (std::size_t i = 0; i < translations.size(); ++i) {
    bleu.add(translations[i], references[i]);
    chrf.add(translations[i], references[i]);
  }
  return {bleu.score(), chrf.score()};
}

}  // namespace equinorm::lab
