// Descriptions of Debian packages, labelled with the archive section they are in, out of what
// `apt-cache dumpavail` prints.
#pragma once

#include <string>
#include <string_view>

namespace equinorm::lab {

/// "section TAB description" a line, in the order of the output, for ten sections. A description
/// whose first 20 words (case and punctuation aside) have been seen before is dropped.
std::string label_packages(std::string_view dumpavail);

}  // namespace equinorm::lab
