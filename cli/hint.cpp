#include "hint.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string>
#include <vector>

#include "lab/nearest.hpp"

namespace equinorm::cli {
namespace {

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
  return {"unknown option " + name, lab::did_you_mean(name, option_names(app))};
}

Unknown explain_unknown(const CLI::App& app) {
  const CLI::App* deepest = &app;
  while (!deepest->get_subcommands().empty()) deepest = deepest->get_subcommands().back();
  const std::vector<std::string> extras = app.remaining(true);
  const std::string word = extras.empty() ? "" : extras[0];
  if (word.rfind('-', 0) == 0 && word.size() > 1) {
    return explain_unknown_option(*deepest, word);
  }
  return {"unexpected argument '" + word + "'", lab::did_you_mean(word, command_names(*deepest))};
}

Unknown explain_missing_command(const CLI::App& app, int argc, char** argv) {
  const std::vector<std::string> names = command_names(app);
  const std::string all = "Commands: " + joined(names) + ".";
  if (argc < 2) return {"a command is required", all};
  const std::string word = argv[1];
  if (word.rfind('-', 0) == 0)
    return {"unknown option " + word, lab::did_you_mean(word, option_names(app))};
  const std::string hint = lab::did_you_mean(word, names);
  return {"unknown command '" + word + "'", hint.empty() ? all : hint};
}

}  // namespace equinorm::cli
