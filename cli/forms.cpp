// `equinorm forms`: the norms that have names, from the one list that tests and models use.
#include "equinorm/row_forms.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "command.hpp"

namespace equinorm::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  bool json = false;
  bool markdown = false;
};

const char* name_of(Spread spread) {
  constexpr const char* kNames[] = {"root", "added", "clamped", "length"};
  return kNames[static_cast<int>(spread)];
}

const char* name_of(Gain gain) {
  constexpr const char* kNames[] = {"none", "vector", "one_plus", "scalar", "adaptive"};
  return kNames[static_cast<int>(gain)];
}

std::string parameters(const NamedForm& named) {
  std::string text;
  if (has_gamma(named.form)) text = named.form.gain == Gain::scalar ? "gamma (1)" : "gamma (cols)";
  if (named.bias) text += text.empty() ? "beta (cols)" : ", beta (cols)";
  return text.empty() ? "none" : text;
}

// The fields of RowForm that differ from LayerNorm's.
std::string options_text(const RowForm& form) {
  const RowForm usual;
  std::string text = fmt::format("eps {:g}", form.eps);
  if (form.centered != usual.centered) text += ", not centred";
  if (form.spread != usual.spread) text += fmt::format(", spread {}", name_of(form.spread));
  if (form.unbiased) text += ", unbiased";
  if (form.gain != usual.gain) text += fmt::format(", gain {}", name_of(form.gain));
  if (form.gain == Gain::adaptive) text += fmt::format(", C {:g}, k {:g}", form.scale, form.slope);
  if (form.detach_mean) text += ", mean detached";
  if (form.detach_spread) text += ", spread detached";
  if (form.part != usual.part) text += fmt::format(", part {:g}", form.part);
  return text;
}

Json to_json(const NamedForm& named) {
  const RowForm& form = named.form;
  return {{"name", named.name},
          {"formula", named.formula},
          {"source", named.source},
          {"parameters", parameters(named)},
          {"centered", form.centered},
          {"spread", name_of(form.spread)},
          {"unbiased", form.unbiased},
          {"gain", name_of(form.gain)},
          {"bias", named.bias},
          {"eps", form.eps},
          {"detach_mean", form.detach_mean},
          {"detach_spread", form.detach_spread},
          {"scale", form.scale},
          {"slope", form.slope},
          {"part", form.part}};
}

void print_text() {
  for (const NamedForm& named : kRowForms) {
    fmt::print("{}\n  {}\n  {}\n  parameters: {}; {}\n", named.name, named.formula, named.source,
               parameters(named), options_text(named.form));
  }
}

void print_markdown() {
  fmt::print("| name | formula | options | parameters | source |\n");
  fmt::print("| --- | --- | --- | --- | --- |\n");
  for (const NamedForm& named : kRowForms) {
    std::string formula;
    for (const char* c = named.formula; *c != '\0'; ++c) {
      if (*c == '|') formula += '\\';
      formula += *c;
    }
    fmt::print("| `{}` | {} | {} | {} | {} |\n", named.name, formula, options_text(named.form),
               parameters(named), named.source);
  }
}

void run(const Options& options) {
  if (options.json) {
    Json all = Json::array();
    for (const NamedForm& named : kRowForms) all.push_back(to_json(named));
    fmt::print("{}\n", all.dump(2));
  } else if (options.markdown) {
    print_markdown();
  } else {
    print_text();
  }
}

}  // namespace

void add_forms(CLI::App& app, int& /*exit_code*/) {
  auto options = std::make_shared<Options>();
  CLI::App* sub =
      app.add_subcommand("forms", "The norms that have names: formula, options, source");
  auto* json = sub->add_flag("--json", options->json, "One JSON document on stdout");
  sub->add_flag("--markdown", options->markdown, "The table of docs/forms.md")->excludes(json);
  sub->footer(
      "Example:\n"
      "  equinorm forms\n"
      "  equinorm compare --norm layer,AdaNorm,ScaleNorm --placement pre\n\n"
      "gamma is the gain, w the weight as a model stores it; mu and v are mean and biased "
      "variance\n"
      "of the row, s its unbiased standard deviation, r the root of mean(x^2).");
  sub->callback([options] { run(*options); });
}

}  // namespace equinorm::cli
