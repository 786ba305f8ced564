// Text as character ids. A character is a Unicode code point; the vocabulary holds the most
// frequent ones, all others share id 0, <unk>.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace equinorm::lab {

inline constexpr std::size_t kMaxVocabulary = 256;  ///< <unk> included

struct TextData {
  std::vector<std::uint8_t> ids;     ///< one per character
  std::vector<char32_t> vocabulary;  ///< code point of each id; entry 0 is <unk> and holds 0
};

/// Where training ends and validation begins: the last 5 % are validation, but at least
/// `context` + 1 characters, so both parts hold a whole sample.
struct TextSplit {
  std::size_t train_size = 0;
  std::size_t validation_size = 0;
};

/// Code points of UTF-8 text. Throws InputError, naming `name` and the byte offset, for a NUL byte
/// and for invalid UTF-8. A byte-order mark at the beginning is dropped.
std::u32string decode_utf8(std::string_view bytes, const std::string& name);

/// Ids in order of falling frequency, ties by code point. Throws InputError for empty text.
TextData encode_text(std::string_view bytes, const std::string& name);

/// Throws InputError, naming the smallest length, where the text is too short for `context`.
TextSplit split_text(std::size_t characters, std::size_t context, const std::string& name);

}  // namespace equinorm::lab
