#include "hint.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

namespace equinorm::cli {
namespace {

// Levenshtein distance in one row of memory.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = 1 + std::max<std::size_t>(1, word.size() / 3);
  for (const std::string& candidate : known) {
    const bool abbreviated = word.size() >= 3 && candidate.rfind(word, 0) == 0;
    const std::size_t distance = abbreviated ? 0 : edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best.empty() ? "" : "Did you mean " + best + "?";
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) {
    if (!sub->get_group().empty()) names.push_back(sub->get_name());  // hidden ones have no group
  }
  return names;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

Unknown explain_unknown_option(const CLI::App& app, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  return {"unknown option " + name, nearest(name, option_names(app))};
}

Unknown explain_unknown(const CLI::App& app) {
  const CLI::App* deepest = &app;
  while (!deepest->get_subcommands().empty()) deepest = deepest->get_subcommands().back();
  const std::vector<std::string> extras = app.remaining(true);
  const std::string word = extras.empty() ? "" : extras[0];
  if (word.rfind('-', 0) == 0 && word.size() > 1) {
    return explain_unknown_option(*deepest, word);
  }
  return {"unexpected argument '" + word + "'", nearest(word, command_names(*deepest))};
}

Unknown explain_missing_command(const CLI::App& app, int argc, char** argv) {
  const std::vector<std::string> names = command_names(app);
  const std::string all = "Commands: " + joined(names) + ".";
  if (argc < 2) return {"a command is required", all};
  const std::string word = argv[1];
  if (word.rfind('-', 0) == 0) return {"unknown option " + word, nearest(word, option_names(app))};
  const std::string hint = nearest(word, names);
  return {"unknown command '" + word + "'", hint.empty() ? all : hint};
}

}  // namespace equinorm::cli
