#include "lab/experiment/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace equinorm::lab {
namespace {

std::string align(const std::vector<TextRow>& rows, bool all_left) {
  std::vector<std::size_t> widths(rows.at(0).size(), 0);
  for (const TextRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const TextRow& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool left = all_left || i == 0 || i + 1 == row.size();
      line += left ? fmt::format("{:<{}}", row[i], widths[i])
                   : fmt::format("{:>{}}", row[i], widths[i]);
      if (i + 1 < row.size()) line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string align_rows(const std::vector<TextRow>& rows) { return align(rows, false); }
std::string align_left(const std::vector<TextRow>& rows) { return align(rows, true); }

}  // namespace equinorm::lab
