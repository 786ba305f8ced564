// `equinorm explain`: the steps of LayerNorm and RMSNorm on the user's own numbers.
// Reads the command line and the numbers; explain_steps.hpp computes, explain_print.hpp prints.
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cmath>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "dtype_buffer.hpp"
#include "equinorm/status.hpp"
#include "explain_print.hpp"
#include "explain_steps.hpp"
#include "hint.hpp"
#include "numbers.hpp"

namespace equinorm::cli {
namespace {

struct Options {
  std::string eps = "1e-5";
  std::string dtype = "f64";
  std::optional<std::string> gain;
  std::optional<std::string> bias;
  bool json = false;
};

// CLI11 takes "-.5" for a short option, so the numbers are what it leaves over.
std::vector<double> read_row(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty() && isatty(STDIN_FILENO) != 0) {
    throw UsageError("no numbers: give them as arguments or on standard input");
  }
  if (words.empty() || (words.size() == 1 && words[0] == "-")) {
    std::vector<double> row = read_numbers(std::cin, "standard input");
    if (row.empty()) throw InputError("standard input holds no numbers");
    return row;
  }
  std::vector<double> row;
  for (const std::string& word : words) {
    if (word.rfind("--", 0) == 0) {
      const Unknown unknown = explain_unknown_option(app, word);
      throw UsageError(unknown.message, unknown.hint);
    }
    const std::vector<double> found = parse_numbers(word, "argument");
    row.insert(row.end(), found.begin(), found.end());
  }
  if (row.empty()) throw UsageError("no numbers in the arguments");
  return row;
}

std::vector<double> read_parameter(const std::optional<std::string>& text, const std::string& name,
                                   std::size_t size) {
  if (!text) return {};
  std::vector<double> values = parse_numbers(*text, name);
  if (values.empty()) throw UsageError(name + ": '" + *text + "' holds no number");
  if (values.size() == 1) values.assign(size, values[0]);
  if (values.size() != size) {
    throw UsageError(name + ": " + std::to_string(values.size()) + " numbers for a row of " +
                     std::to_string(size) + ": must be one or as many as the row has");
  }
  return values;
}

void require_range(const std::vector<double>& values, DType dtype, const std::string& what) {
  for (const double value : values) {
    if (std::isinf(round_to(dtype, value))) {
      throw UsageError(what + ": " + format_number(value) + " does not fit " + name_of(dtype) +
                       ": must be at most " + format_number(largest(dtype)) + " in size");
    }
  }
}

void run(const CLI::App& app, const Options& options) {
  ExplainRequest request;
  request.dtype = parse_dtype(options.dtype);
  request.eps = parse_number(options.eps, "--eps");
  request.x = read_row(app, app.remaining());
  request.gain = read_parameter(options.gain, "--gain", request.x.size());
  request.bias = read_parameter(options.bias, "--bias", request.x.size());
  require_range(request.x, request.dtype, "numbers");
  require_range(request.gain, request.dtype, "--gain");
  require_range(request.bias, request.dtype, "--bias");
  try {
    const Explanation explanation = explain_row(request);
    std::cout << (options.json ? to_json(explanation, request) : to_text(explanation, request));
  } catch (const Error& error) {
    if (error.status().code != StatusCode::invalid_argument) throw;
    throw UsageError(error.what());
  }
}

}  // namespace

void add_explain(CLI::App& app, int&) {
  const auto options = std::make_shared<Options>();
  CLI::App* sub =
      app.add_subcommand("explain", "Show the steps of LayerNorm and RMSNorm on numbers");
  sub->add_option("--eps", options->eps, "Number added to the variance (1e-5)")
      ->type_name("NUMBER");
  sub->add_option("--dtype", options->dtype, "Element type: f64 (default), f32, f16 or bf16")
      ->type_name("TYPE");
  sub->add_option("--gain", options->gain, "gamma: one number, or one per element as 1,2,3")
      ->type_name("NUMBERS");
  sub->add_option("--bias", options->bias, "beta of LayerNorm: one number, or one per element")
      ->type_name("NUMBERS");
  sub->add_flag("--json", options->json, "Print one JSON document, with all elements");
  sub->allow_extras();
  sub->footer(
      "Numbers are arguments or come from standard input with '-' or without arguments, "
      "separated\n"
      "by white space or commas.\n\n"
      "Examples:\n"
      "  equinorm explain 1000 1001 999\n"
      "  equinorm explain -1 2 -3 --gain 2 --dtype bf16\n"
      "  seq 1 1000 | equinorm explain --json");
  sub->callback([options, sub] { run(*sub, *options); });
}

}  // namespace equinorm::cli
