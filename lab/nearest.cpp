#include "lab/nearest.hpp"

#include <algorithm>
#include <cstddef>

namespace equinorm::lab {
namespace {

// Letters to insert, remove, replace or swap with their neighbour.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> edits(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        edits[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = edits[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      edits[i][j] = std::min({replaced, edits[i - 1][j] + 1, edits[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
      }
    }
  }
  return edits[a.size()][b.size()];
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  // One edit, or a third of the word, but never all of it.
  std::size_t best_distance = std::min(word.size(), 1 + std::max<std::size_t>(1, word.size() / 3));
  for (const std::string& candidate : known) {
    const bool abbreviated = word.size() >= 3 && candidate.rfind(word, 0) == 0;
    const std::size_t distance = abbreviated ? 0 : edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::string name = nearest(word, known);
  return name.empty() ? "" : "Did you mean " + name + "?";
}

std::string one_of(const std::string& rule, const std::string& word,
                   const std::vector<std::string>& known) {
  std::string text;
  for (const std::string& name : known) text += (text.empty() ? rule + " " : ", ") + name;
  const std::string hint = did_you_mean(word, known);
  return hint.empty() ? text : text + ". " + hint;
}

}  // namespace equinorm::lab
