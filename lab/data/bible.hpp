// Plain text out of the World English Bible as the SWORD tools export it.
//
// The result is a changed text: by its publisher's wish it must not be called "World English Bible"
// any more, hence kBibleTitle.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace equinorm::lab {

inline constexpr const char* kBibleTitle =
    "bible (from the World English Bible, notes and titles removed)";
inline constexpr const char* kBibleModule = "engWEB2015eb";

/// Calls `visit` with the key ("Genesis 1:1") and the plain text of each verse that has one, in the
/// order of the output of mod2imp: introductions, notes, titles and all tags dropped, white space
/// collapsed.
void for_each_verse(std::string_view imp,
                    const std::function<void(std::string_view, const std::string&)>& visit);

/// One verse a line, UTF-8, from the output of mod2imp: verse keys, introductions, notes, titles
/// and all tags dropped, white space collapsed.
std::string strip_bible(std::string_view imp);

}  // namespace equinorm::lab
