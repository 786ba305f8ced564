// The export is a sequence of "$$$Book chapter:verse" lines, each followed by OSIS XML. Verse 0
// holds introductions and headings.
#include "lab/data/bible.hpp"

#include <array>

namespace equinorm::lab {
namespace {

constexpr std::string_view kKey = "$$$";

// Tags inside a word or around words that carry their own spacing; every other tag separates.
bool is_inline(std::string_view tag) {
  if (tag.starts_with('/')) tag.remove_prefix(1);
  const std::string_view name = tag.substr(0, tag.find_first_of(" \t\n/>"));
  return name == "w" || name == "q" || name == "seg" || name == "name" || name == "hi" ||
         name == "transChange" || name == "divineName";
}

// Elements whose content is not the text of a verse; returns the closing tag to look for.
std::string_view dropped_until(std::string_view tag) {
  if (tag.ends_with('/')) return {};
  const std::string_view name = tag.substr(0, tag.find_first_of(" \t\n"));
  if (name == "note") return "</note>";
  if (name == "title") return "</title>";
  if (name == "speaker") return "</speaker>";
  if (name == "catchWord") return "</catchWord>";
  return {};
}

std::size_t append_entity(std::string_view text, std::size_t at, std::string& out) {
  struct Entity {
    std::string_view name;
    char character;
  };
  constexpr std::array<Entity, 5> kEntities = {
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  for (const Entity& entity : kEntities) {
    if (text.substr(at).starts_with(entity.name)) {
      out += entity.character;
      return at + entity.name.size();
    }
  }
  out += '&';
  return at + 1;
}

std::string strip_tags(std::string_view text) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '&') {
      at = append_entity(text, at, out);
      continue;
    }
    if (text[at] != '<') {
      out += text[at++];
      continue;
    }
    const std::size_t end = text.find('>', at);
    if (end == std::string_view::npos) break;
    const std::string_view tag = text.substr(at + 1, end - at - 1);
    if (!is_inline(tag)) out += ' ';
    at = end + 1;
    if (const std::string_view closing = dropped_until(tag); !closing.empty()) {
      const std::size_t close = text.find(closing, at);
      if (close == std::string_view::npos) break;
      at = close + closing.size();
    }
  }
  return out;
}

bool closes_phrase(std::string_view rest) {
  return std::string_view(",.;:?!)").find(rest[0]) != std::string_view::npos ||
         rest.starts_with("\xE2\x80\x99") || rest.starts_with("\xE2\x80\x9D");  // closing quotes
}

// Runs of white space become one space; none at the ends or before closing punctuation.
std::string collapse_spaces(std::string_view text) {
  std::string out;
  bool pending = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      pending = !out.empty();
      continue;
    }
    if (pending && !closes_phrase(text.substr(i))) out += ' ';
    pending = false;
    out += c;
  }
  return out;
}

}  // namespace

void for_each_verse(std::string_view imp,
                    const std::function<void(std::string_view, const std::string&)>& visit) {
  std::size_t at = imp.starts_with(kKey) ? 0 : imp.find("\n$$$");
  if (at != 0 && at != std::string_view::npos) ++at;
  while (at < imp.size()) {
    const std::size_t line_end = std::min(imp.find('\n', at), imp.size());
    const std::string_view key = imp.substr(at, line_end - at);
    const std::size_t next = imp.find("\n$$$", line_end);
    const std::size_t body_end = next == std::string_view::npos ? imp.size() : next;
    const bool is_verse = key.find(':') != std::string_view::npos && !key.ends_with(":0");
    if (is_verse && line_end < body_end) {
      const std::string verse =
          collapse_spaces(strip_tags(imp.substr(line_end, body_end - line_end)));
      if (!verse.empty()) visit(key.substr(kKey.size()), verse);
    }
    if (next == std::string_view::npos) break;
    at = next + 1;
  }
}

std::string strip_bible(std::string_view imp) {
  std::string result;
  for_each_verse(
      imp, [&](std::string_view /*key*/, const std::string& verse) { result += verse + '\n'; });
  return result;
}

}  // namespace equinorm::lab
