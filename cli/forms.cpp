// `equinorm forms`: the norms, operators and placements that have names, from the lists that tests
// and models use. Not here: what they compute.
#include "equinorm/operator_forms.hpp"
#include "equinorm/row_forms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.hpp"
#include "compare_names.hpp"
#include "lab/models/placement.hpp"

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

// "--norm DyT", or null where compare does not know the operator.
Json compare_json(const OperatorForm& form) {
  const std::string option = compare_option_of(form.name);
  return option.empty() ? Json(nullptr) : Json(option);
}

Json to_json(const OperatorForm& form) {
  return {{"name", form.name},
          {"formula", form.formula},
          {"source", form.source},
          {"parameters", form.parameters},
          {"options", form.options},
          {"function", form.function},
          {"compare", compare_json(form)}};
}

// Where a placement has norms.
std::vector<std::string> norms_at(const lab::Placement& placement) {
  std::vector<std::string> places;
  if (placement.norm_embedding) places.emplace_back("embedding");
  if (placement.norm_before) places.emplace_back("before");
  if (placement.norm_branch == lab::BranchNorm::attention) places.emplace_back("attention");
  if (placement.norm_branch == lab::BranchNorm::every) places.emplace_back("branch");
  if (placement.norm_hidden) places.emplace_back("hidden");
  if (placement.norm_sum) places.emplace_back("sum");
  if (placement.norm_final) places.emplace_back("final");
  return places;
}

std::string norms_text(const lab::Placement& placement) {
  return lab::has_norm(placement) ? fmt::format("{}", fmt::join(norms_at(placement), ", "))
                                  : "none";
}

Json to_json(const lab::Placement& placement) {
  return {{"name", placement.name},
          {"title", placement.title},
          {"formula", placement.formula},
          {"source", placement.source},
          {"norms", norms_at(placement)}};
}

std::string in_a_table(const char* text) {
  std::string cell;
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c == '|') cell += '\\';
    cell += *c;
  }
  return cell;
}

void print_text() {
  fmt::print("Norms (equinorm compare --norm)\n\n");
  for (const NamedForm& named : kRowForms) {
    fmt::print("{}\n  {}\n  {}\n  parameters: {}; {}\n", named.name, named.formula, named.source,
               parameters(named), options_text(named.form));
  }
  fmt::print("\nOperators\n\n");
  for (const OperatorForm& form : kOperatorForms) {
    const std::string option = compare_option_of(form.name);
    fmt::print("{}\n  {}\n  {}\n  parameters: {}; {}\n  {}_forward, {}_backward\n  {}\n", form.name,
               form.formula, form.source, form.parameters, form.options, form.function,
               form.function, option.empty() ? "not in compare" : "equinorm compare " + option);
  }
  fmt::print("\nPlacements (equinorm compare --placement)\n\n");
  for (const lab::Placement& placement : lab::placements()) {
    fmt::print("{}\n  {}\n  {}\n  norms: {}\n", placement.name, placement.formula, placement.source,
               norms_text(placement));
  }
}

void print_markdown() {
  fmt::print("| name | formula | options | parameters | source |\n");
  fmt::print("| --- | --- | --- | --- | --- |\n");
  for (const NamedForm& named : kRowForms) {
    fmt::print("| `{}` | {} | {} | {} | {} |\n", named.name, in_a_table(named.formula),
               options_text(named.form), parameters(named), named.source);
  }
  fmt::print("\n| name | formula | options | parameters | function | compare | source |\n");
  fmt::print("| --- | --- | --- | --- | --- | --- | --- |\n");
  for (const OperatorForm& form : kOperatorForms) {
    const std::string option = compare_option_of(form.name);
    fmt::print("| `{}` | {} | {} | {} | `{}` | {} | {} |\n", form.name, in_a_table(form.formula),
               in_a_table(form.options), form.parameters, form.function,
               option.empty() ? "no" : "`" + option + "`", form.source);
  }
  fmt::print("\n| name | formula | norms | source |\n");
  fmt::print("| --- | --- | --- | --- |\n");
  for (const lab::Placement& placement : lab::placements()) {
    fmt::print("| `{}` | {} | {} | {} |\n", placement.name, in_a_table(placement.formula),
               norms_text(placement), placement.source);
  }
}

void run(const Options& options) {
  if (options.json) {
    Json all = {
        {"norms", Json::array()}, {"operators", Json::array()}, {"placements", Json::array()}};
    for (const NamedForm& named : kRowForms) all["norms"].push_back(to_json(named));
    for (const OperatorForm& form : kOperatorForms) all["operators"].push_back(to_json(form));
    for (const lab::Placement& placement : lab::placements()) {
      all["placements"].push_back(to_json(placement));
    }
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
  CLI::App* sub = app.add_subcommand("forms", "Norms, operators and placements that have names");
  auto* json = sub->add_flag("--json", options->json, "One JSON document on stdout");
  sub->add_flag("--markdown", options->markdown, "The tables of docs/forms.md")->excludes(json);
  sub->footer(
      "Example:\n"
      "  equinorm forms\n"
      "  equinorm compare --norm layer,AdaNorm,ScaleNorm --placement pre\n"
      "  equinorm compare --norm layer --placement pre,deepnorm,peri\n\n"
      "gamma is the gain, w the weight as a model stores it; mu and v are mean and biased "
      "variance\n"
      "of the row, s its unbiased standard deviation, r the root of mean(x^2). In placements x is "
      "the\n"
      "residual stream, f a sublayer, norm the chosen norm, N the number of layers, d the width.");
  sub->callback([options] { run(*options); });
}

}  // namespace equinorm::cli
