// Short texts with a label each, as ids of words: the data of text classification.
//
// The form on disk is one text a line, "label TAB text". Neighbouring lines tend to be alike, as
// packages of one program are, so test texts are whole runs of lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace equinorm::lab {

inline constexpr std::uint16_t kPaddingWord = 0;
inline constexpr std::uint16_t kUnknownWord = 1;
inline constexpr std::size_t kMostWords = 4000;  ///< of the vocabulary, the two above included

struct LabelledText {
  std::vector<std::uint16_t> words;
  std::uint8_t label = 0;
};

struct LabelledTexts {
  std::vector<std::string> classes;  ///< sorted
  std::size_t vocabulary = 0;        ///< words that occur twice or more in the training texts
  std::vector<LabelledText> train;
  std::vector<LabelledText> test;  ///< every tenth run of ten lines
};

/// Lower-case runs of ASCII letters and digits and bytes beyond ASCII.
std::vector<std::string> lower_case_words(std::string_view text);

/// Throws InputError, naming `name` and the line, for a line without tab or without a word, for
/// fewer than two labels and for more than 255, for fewer than 20 lines, and for a test label that
/// training lacks.
LabelledTexts read_labelled_texts(std::string_view text, const std::string& name);

}  // namespace equinorm::lab
