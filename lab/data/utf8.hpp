// UTF-8 text cut into characters, without checks: for text that decode_utf8 has accepted.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace equinorm::lab {

/// Bytes of the character that begins with this one.
inline std::size_t utf8_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// Views into `text`.
inline std::vector<std::string_view> utf8_characters(std::string_view text) {
  std::vector<std::string_view> characters;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::min(utf8_length(text[at]), text.size() - at);
    characters.push_back(text.substr(at, length));
    at += length;
  }
  return characters;
}

}  // namespace equinorm::lab
