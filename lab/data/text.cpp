// UTF-8 decoding with positions of errors, and the character vocabulary.
#include "lab/data/text.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

// Reads one code point at `at` and advances it. Returns false for an invalid sequence: stray or
// missing continuation bytes, overlong forms, surrogates, values above U+10FFFF.
bool next_code_point(std::string_view bytes, std::size_t& at, char32_t& code) {
  const auto lead = static_cast<unsigned char>(bytes[at]);
  if (lead < 0x80) {
    code = lead;
    ++at;
    return true;
  }
  int following = 0;
  char32_t smallest = 0;
  if ((lead & 0xE0) == 0xC0) {
    following = 1, smallest = 0x80, code = lead & 0x1F;
  } else if ((lead & 0xF0) == 0xE0) {
    following = 2, smallest = 0x800, code = lead & 0x0F;
  } else if ((lead & 0xF8) == 0xF0) {
    following = 3, smallest = 0x10000, code = lead & 0x07;
  } else {
    return false;
  }
  if (bytes.size() - at <= static_cast<std::size_t>(following)) return false;
  for (int i = 1; i <= following; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
    if ((byte & 0xC0) != 0x80) return false;
    code = (code << 6) | (byte & 0x3F);
  }
  if (code < smallest || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
  at += static_cast<std::size_t>(following) + 1;
  return true;
}

}  // namespace

std::u32string decode_utf8(std::string_view bytes, const std::string& name) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (const std::size_t nul = bytes.find('\0'); nul != std::string_view::npos) {
    throw InputError(name + " is not text: NUL byte at offset " + std::to_string(nul));
  }
  std::size_t at = bytes.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  std::u32string text;
  text.reserve(bytes.size());
  while (at < bytes.size()) {
    char32_t code = 0;
    if (!next_code_point(bytes, at, code)) {
      throw InputError(name + " is not UTF-8 text: invalid byte sequence at offset " +
                       std::to_string(at));
    }
    text += code;
  }
  return text;
}

TextData encode_text(std::string_view bytes, const std::string& name) {
  const std::u32string text = decode_utf8(bytes, name);
  if (text.empty()) throw InputError(name + " is empty");
  std::map<char32_t, std::size_t> counts;
  for (const char32_t code : text) ++counts[code];

  std::vector<std::pair<char32_t, std::size_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (order.size() > kMaxVocabulary - 1) order.resize(kMaxVocabulary - 1);

  TextData data;
  data.vocabulary.push_back(0);
  std::unordered_map<char32_t, std::uint8_t> id_of;
  for (const auto& [code, count] : order) {
    id_of[code] = static_cast<std::uint8_t>(data.vocabulary.size());
    data.vocabulary.push_back(code);
  }
  data.ids.reserve(text.size());
  for (const char32_t code : text) {
    const auto found = id_of.find(code);
    data.ids.push_back(found == id_of.end() ? std::uint8_t{0} : found->second);
  }
  return data;
}

TextSplit split_text(std::size_t characters, std::size_t context, const std::string& name) {
  const std::size_t sample = context + 1;
  if (characters < 2 * sample) {
    throw InputError(name + " has " + std::to_string(characters) + " character" +
                     (characters == 1 ? "" : "s") + "; with context " + std::to_string(context) +
                     " at least " + std::to_string(2 * sample) + " are needed");
  }
  const std::size_t validation = std::max(characters / 20, sample);
  return {characters - validation, validation};
}

}  // namespace equinorm::lab
