// Byte-pair encoding (Sennrich et al. 2016) over Unicode characters: words are cut into pieces that
// were learned from a text by joining its most frequent pair again and again.
//
// A space belongs to the word behind it, so that joining the pieces gives the text back. The one
// trap: pieces are learned, and so may only see what a model may train on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace equinorm::lab {

using PieceId = std::uint16_t;

inline constexpr PieceId kPaddingPiece = 0;
inline constexpr PieceId kBeginPiece = 1;
inline constexpr PieceId kEndPiece = 2;
inline constexpr PieceId kUnknownPiece = 3;  ///< characters that the learning text lacks
inline constexpr PieceId kFirstPiece = 4;

class BytePairs {
 public:
  /// Joins up to `merges` pairs of `lines`, the most frequent first, ties by the pieces' ids; a
  /// pair that occurs once is not joined.
  static BytePairs learn(const std::vector<std::string_view>& lines, int merges);

  /// What to_text() wrote. Throws InputError, naming `name`, for anything else.
  static BytePairs from_text(std::string_view text, const std::string& name);

  /// A character a line, then a joined pair a line, as the ids of its halves with a tab between.
  [[nodiscard]] std::string to_text() const;

  /// Pieces of a word of words_with_spaces; a line is the pieces of its words.
  [[nodiscard]] std::vector<PieceId> encode_word(const std::string& word) const;
  /// Special pieces give nothing.
  [[nodiscard]] std::string decode(const std::vector<PieceId>& pieces) const;

  /// Pieces, the special ones included.
  [[nodiscard]] std::size_t size() const { return pieces_.size(); }

 private:
  BytePairs();
  PieceId add(const std::string& piece);
  void add_merge(PieceId left, PieceId right);

  std::vector<std::string> pieces_;  ///< UTF-8, by id
  std::unordered_map<std::string, PieceId> characters_;
  std::map<std::pair<PieceId, PieceId>, PieceId> joined_;  ///< ids of pairs rise with their rank
  std::vector<std::pair<PieceId, PieceId>> merges_;
};

/// A line as words: runs of letters and digits or of anything else, each with a space in front,
/// also the first.
std::vector<std::string> words_with_spaces(std::string_view line);

}  // namespace equinorm::lab
