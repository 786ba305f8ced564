// Pairing verses, reading pairs, encoding them. Kinds of words are few, so each is encoded once.
#include "lab/data/parallel_text.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "lab/data/bible.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

constexpr int kHeldOutEvery = 20;  // chapters

std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

class Encoder {
 public:
  explicit Encoder(const BytePairs& pieces) : pieces_(pieces) {}

  std::vector<PieceId> encode(std::string_view line) {
    std::vector<PieceId> all;
    for (const std::string& word : words_with_spaces(line)) {
      const auto [known, is_new] = words_.try_emplace(word);
      if (is_new) known->second = pieces_.encode_word(word);
      all.insert(all.end(), known->second.begin(), known->second.end());
    }
    return all;
  }

 private:
  const BytePairs& pieces_;
  std::unordered_map<std::string, std::vector<PieceId>> words_;
};

}  // namespace

int count_words(std::string_view line) {
  return 1 + static_cast<int>(std::count(line.begin(), line.end(), ' '));
}

std::string pair_verses(std::string_view english, std::string_view spanish) {
  std::unordered_map<std::string, std::string> translations;
  for_each_verse(spanish, [&](std::string_view key, const std::string& verse) {
    translations.emplace(key, verse);
  });
  std::string pairs;
  for_each_verse(english, [&](std::string_view key, const std::string& verse) {
    const auto found = translations.find(std::string(key));
    if (found == translations.end() || key.starts_with("Psalms ")) return;
    if (std::max(count_words(verse), count_words(found->second)) > kMostVerseWords) return;
    pairs.append(key).append("\t").append(verse).append("\t").append(found->second).append("\n");
  });
  return pairs;
}

std::vector<ParallelLine> read_parallel_lines(std::string_view text, const std::string& name) {
  std::vector<ParallelLine> lines;
  int chapters = 0;
  while (!text.empty()) {
    std::string_view rest = take_until(text, '\n');
    const std::string_view key = take_until(rest, '\t');
    ParallelLine line;
    line.chapter = key.substr(0, key.rfind(':'));
    line.source = take_until(rest, '\t');
    line.target = rest;
    if (line.source.empty() || line.target.empty() ||
        line.target.find('\t') != std::string_view::npos) {
      throw InputError(name + " is no text of pairs: line " + std::to_string(lines.size() + 1) +
                       " must be key, source and target with tabs between");
    }
    if (lines.empty() || lines.back().chapter != line.chapter) ++chapters;
    line.held_out = chapters % kHeldOutEvery == 0;
    lines.push_back(line);
  }
  if (chapters < kHeldOutEvery) {
    throw InputError(name + " has " + std::to_string(chapters) +
                     " chapters (keys up to their last colon); at least " +
                     std::to_string(kHeldOutEvery) + " are needed, of which one is held out");
  }
  return lines;
}

LearnedPieces learn_pieces(const std::vector<ParallelLine>& lines, int merges) {
  std::vector<std::string_view> sources;
  std::vector<std::string_view> targets;
  for (const ParallelLine& line : lines) {
    if (line.held_out) continue;
    sources.push_back(line.source);
    targets.push_back(line.target);
  }
  return {BytePairs::learn(sources, merges), BytePairs::learn(targets, merges)};
}

ParallelText encode_parallel(const std::vector<ParallelLine>& lines, LearnedPieces pieces) {
  ParallelText text{{}, {}, std::move(pieces.source), std::move(pieces.target)};
  Encoder source(text.source_pieces);
  Encoder target(text.target_pieces);
  for (const ParallelLine& line : lines) {
    (line.held_out ? text.held_out : text.train)
        .push_back({std::string(line.source), std::string(line.target), source.encode(line.source),
                    target.encode(line.target), count_words(line.source)});
  }
  return text;
}

}  // namespace equinorm::lab
