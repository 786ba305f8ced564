// Rows of cells as aligned text for a terminal.
#pragma once

#include <string>
#include <vector>

namespace equinorm::lab {

using TextRow = std::vector<std::string>;

/// First column to the left, the others to the right, the last one (free text) to the left.
[[nodiscard]] std::string align_rows(const std::vector<TextRow>& rows);

/// The same with every column to the left.
[[nodiscard]] std::string align_left(const std::vector<TextRow>& rows);

}  // namespace equinorm::lab
