// Sentence pairs of two languages, cut into pieces: the data of translation.
//
// The form on disk is one pair a line, "key TAB source TAB target". Pairs whose keys differ only
// behind their last colon ("Genesis 1:1", "Genesis 1:2") are one chapter. Every 20th chapter is
// held out, so that training has seen no neighbour of a test pair.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/data/byte_pairs.hpp"

namespace equinorm::lab {

inline constexpr const char* kSpanishModule = "spaRV1909eb";
inline constexpr int kMerges = 2000;         ///< per language
inline constexpr int kMostVerseWords = 120;  ///< longer verses are left out

struct SentencePair {
  std::string source;
  std::string target;
  std::vector<PieceId> source_pieces;
  std::vector<PieceId> target_pieces;
  int words = 0;  ///< of the source, cut at spaces
};

struct ParallelText {
  std::vector<SentencePair> train;
  std::vector<SentencePair> held_out;
  BytePairs source_pieces;
  BytePairs target_pieces;
};

/// The lines of a text of pairs as they stand in memory.
struct ParallelLine {
  std::string_view chapter;
  std::string_view source;
  std::string_view target;
  bool held_out = false;
};

/// Verses that both texts have under the same key, the Psalms left out, whose verses the two number
/// differently. Both arguments are outputs of mod2imp.
std::string pair_verses(std::string_view english, std::string_view spanish);

/// Throws InputError, naming `name` and the line, for a line that is no pair and for a text with
/// fewer than 20 chapters.
std::vector<ParallelLine> read_parallel_lines(std::string_view text, const std::string& name);

/// Learned from the pairs that are not held out.
struct LearnedPieces {
  BytePairs source;
  BytePairs target;
};
LearnedPieces learn_pieces(const std::vector<ParallelLine>& lines, int merges);

ParallelText encode_parallel(const std::vector<ParallelLine>& lines, LearnedPieces pieces);

/// Words of a line, cut at spaces.
int count_words(std::string_view line);

}  // namespace equinorm::lab
