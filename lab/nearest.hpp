// What somebody who misspelt a name probably meant, and the rule that says so.
#pragma once

#include <string>
#include <vector>

namespace equinorm::lab {

/// The known name with the fewest edits to `word`, or one that begins with it; empty where none is
/// near.
[[nodiscard]] std::string nearest(const std::string& word, const std::vector<std::string>& known);

/// "Did you mean X?", or empty.
[[nodiscard]] std::string did_you_mean(const std::string& word,
                                       const std::vector<std::string>& known);

/// `rule`, then the known names, then what was probably meant: "must be one of a, b. Did you mean
/// b?"
[[nodiscard]] std::string one_of(const std::string& rule, const std::string& word,
                                 const std::vector<std::string>& known);

}  // namespace equinorm::lab
