// Learning and applying byte pairs. A merge makes a piece with the next id, so the pair with the
// smallest id of its piece is the one that was learned first.
#include "lab/data/byte_pairs.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "lab/data/utf8.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

using Pair = std::pair<PieceId, PieceId>;

constexpr std::size_t kMostPieces = std::numeric_limits<PieceId>::max();

// ASCII letters and digits and everything beyond ASCII but the punctuation that texts have.
bool is_word_character(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (lead < 0x80) {
    return (lead >= '0' && lead <= '9') || (lead >= 'A' && lead <= 'Z') ||
           (lead >= 'a' && lead <= 'z');
  }
  const bool latin_sign = lead == 0xC2;                                   // U+0080 to U+00BF
  const bool general_punctuation = character.substr(0, 2) == "\xE2\x80";  // U+2000 to U+203F
  return !latin_sign && !general_punctuation;
}

// A kind of word of the learning text, as it is cut at the moment.
struct WordKind {
  std::vector<PieceId> pieces;
  std::int64_t count = 0;
};

void join_in(std::vector<PieceId>& pieces, const Pair& pair, PieceId joined) {
  std::size_t out = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool found =
        i + 1 < pieces.size() && pieces[i] == pair.first && pieces[i + 1] == pair.second;
    pieces[out++] = found ? joined : pieces[i];
    if (found) ++i;
  }
  pieces.resize(out);
}

class PairCounts {
 public:
  void add(const WordKind& word, std::int64_t sign) {
    for (std::size_t i = 0; i + 1 < word.pieces.size(); ++i) {
      counts_[{word.pieces[i], word.pieces[i + 1]}] += sign * word.count;
    }
  }

  /// The most frequent pair, the smallest of equals, with its count.
  [[nodiscard]] std::pair<Pair, std::int64_t> best() const {
    std::pair<Pair, std::int64_t> best{{}, 0};
    for (const auto& [pair, count] : counts_) {
      if (count > best.second) best = {pair, count};
    }
    return best;
  }

 private:
  std::map<Pair, std::int64_t> counts_;  // ordered: equal counts go to the smallest pair
};

}  // namespace

std::vector<std::string> words_with_spaces(std::string_view line) {
  std::vector<std::string> words;
  bool space = true;
  bool in_word = false;
  for (const std::string_view character : utf8_characters(line)) {
    if (character == " ") {
      space = true;
      continue;
    }
    const bool is_word = is_word_character(character);
    if (space || is_word != in_word) words.emplace_back(space ? " " : "");
    words.back() += character;
    in_word = is_word;
    space = false;
  }
  return words;
}

BytePairs::BytePairs() : pieces_(kFirstPiece) {}

PieceId BytePairs::add(const std::string& piece) {
  if (pieces_.size() >= kMostPieces) throw InputError("more than 65,534 pieces of words");
  pieces_.push_back(piece);
  return static_cast<PieceId>(pieces_.size() - 1);
}

void BytePairs::add_merge(PieceId left, PieceId right) {
  merges_.emplace_back(left, right);
  joined_[{left, right}] = add(pieces_[left] + pieces_[right]);
}

BytePairs BytePairs::learn(const std::vector<std::string_view>& lines, int merges) {
  std::map<std::string, std::int64_t> word_counts;
  for (const std::string_view line : lines) {
    for (const std::string& word : words_with_spaces(line)) ++word_counts[word];
  }
  std::map<std::string, bool> characters;
  for (const auto& [word, count] : word_counts) {
    for (const std::string_view character : utf8_characters(word)) {
      characters[std::string(character)] = true;
    }
  }
  BytePairs result;
  for (const auto& [character, unused] : characters) {
    result.characters_[character] = result.add(character);
  }
  std::vector<WordKind> words;
  PairCounts pairs;
  for (const auto& [word, count] : word_counts) {
    words.push_back({result.encode_word(word), count});
    pairs.add(words.back(), 1);
  }
  for (int i = 0; i < merges; ++i) {
    const auto [pair, count] = pairs.best();
    if (count < 2) break;
    result.add_merge(pair.first, pair.second);
    const auto joined = static_cast<PieceId>(result.pieces_.size() - 1);
    const std::vector<PieceId> searched = {pair.first, pair.second};
    for (WordKind& word : words) {
      if (std::search(word.pieces.begin(), word.pieces.end(), searched.begin(), searched.end()) ==
          word.pieces.end()) {
        continue;
      }
      pairs.add(word, -1);
      join_in(word.pieces, pair, joined);
      pairs.add(word, 1);
    }
  }
  return result;
}

std::vector<PieceId> BytePairs::encode_word(const std::string& word) const {
  std::vector<PieceId> pieces;
  for (const std::string_view character : utf8_characters(word)) {
    const auto known = characters_.find(std::string(character));
    pieces.push_back(known == characters_.end() ? kUnknownPiece : known->second);
  }
  while (true) {
    Pair best;
    PieceId joined = 0;
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
      const auto found = joined_.find({pieces[i], pieces[i + 1]});
      if (found == joined_.end() || (joined != 0 && found->second >= joined)) continue;
      best = found->first;
      joined = found->second;
    }
    if (joined == 0) return pieces;
    join_in(pieces, best, joined);
  }
}

std::string BytePairs::decode(const std::vector<PieceId>& pieces) const {
  std::string text;
  for (const PieceId piece : pieces) text += pieces_.at(piece);
  return text.starts_with(' ') ? text.substr(1) : text;
}

std::string BytePairs::to_text() const {
  std::string text;
  for (std::size_t id = kFirstPiece; id < pieces_.size() - merges_.size(); ++id) {
    text += pieces_[id] + "\n";
  }
  for (const auto& [left, right] : merges_) {
    text += std::to_string(left) + "\t" + std::to_string(right) + "\n";
  }
  return text;
}

BytePairs BytePairs::from_text(std::string_view text, const std::string& name) {
  BytePairs result;
  const auto id = [&](std::string_view number) {
    std::size_t value = 0;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
    if (read.ec != std::errc() || value < kFirstPiece || value >= result.size()) {
      throw InputError(name + " holds no byte pairs: '" + std::string(number) +
                       "' is no piece of the lines before");
    }
    return static_cast<PieceId>(value);
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) {
      const std::string character(line);
      result.characters_[character] = result.add(character);
    } else {
      result.add_merge(id(line.substr(0, tab)), id(line.substr(tab + 1)));
    }
  }
  return result;
}

}  // namespace equinorm::lab
