// `equinorm check`: compares the kernels bit for bit with the contract oracle and measures their
// errors against the truth oracle, on this machine.
//
// The one trap: errors are those of the inputs tried, bounds hold for all; a survey is evidence,
// not proof.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check_print.hpp"
#include "command.hpp"
#include "conformance/survey.hpp"
#include "memory.hpp"

namespace equinorm::cli {
namespace {

using namespace conformance;

// Measured: inputs, outputs, what both oracles say, and their bits.
constexpr double kBytesPerElement = 160;

struct Options {
  std::string op;
  std::optional<std::string> dtype;
  std::string isa;
  std::string accuracy;
  std::int64_t rows = -1;
  std::int64_t cols = -1;
  int threads = 0;
  bool json = false;
  bool markdown = false;
  bool quiet = false;
};

// "f32" stands for x and y of f32, "bf16-f32" for x of bf16 and y (or dy) of f32.
bool matches(const Kernel& kernel, const Options& options) {
  if (!options.op.empty() && options.op != conformance::name_of(kernel.op)) return false;
  if (!options.dtype) return !options.markdown || kernel.x == kernel.y;
  std::string types = equinorm::name_of(kernel.x);
  if (kernel.x != kernel.y) types += std::string("-") + equinorm::name_of(kernel.y);
  return options.dtype == types;
}

std::vector<Kernel> chosen_kernels(const Options& options) {
  std::vector<Kernel> kernels;
  for (const Kernel& kernel : all_kernels()) {
    if (matches(kernel, options)) kernels.push_back(kernel);
  }
  if (kernels.empty()) {
    throw UsageError(
        fmt::format("--dtype = '{}': must be f64, f32, f16 or bf16, or two of them as x-y, for "
                    "example bf16-f32",
                    options.dtype.value_or("")));
  }
  return kernels;
}

// Empty where the instruction set is known but not available here.
std::vector<Isa> chosen_isas(const Options& options) {
  const auto available = available_isas();
  std::vector<Isa> isas(available.begin(), available.end());
  if (options.isa.empty()) return isas;
  std::erase_if(isas, [&](Isa isa) { return options.isa != equinorm::name_of(isa); });
  return isas;
}

bool wants(const Problem& problem, const Options& options) {
  return options.accuracy.empty() || options.accuracy == conformance::name_of(problem.accuracy);
}

// The survey's problems, or every family in the shape that was asked for.
std::vector<Problem> problems_of(const Kernel& kernel, const Options& options) {
  std::vector<Problem> problems =
      bound_problems(kernel, options.markdown ? Scale::full : Scale::small);
  if (options.rows >= 0 || options.cols >= 0) {
    problems = family_problems(kernel, Scale::full);
    // One affine form for each family and accuracy keeps large shapes affordable.
    std::erase_if(problems, [&](const Problem& p) { return p.seed % 8 > 1; });
    for (Problem& problem : problems) {
      problem.rows = options.rows >= 0 ? options.rows : 4;
      problem.cols = options.cols >= 0 ? options.cols : 769;
      require_memory(problem.rows, problem.cols, kBytesPerElement);
    }
  }
  std::erase_if(problems, [&](const Problem& problem) { return !wants(problem, options); });
  return problems;
}

std::vector<Report> survey(const Options& options, const std::vector<Kernel>& kernels,
                           const std::vector<Isa>& isas) {
  std::vector<int> threads;
  if (options.threads > 0) threads.push_back(options.threads);
  std::vector<Report> all;
  CheckProgress progress(kernels.size(), options.quiet);
  for (const Kernel& kernel : kernels) {
    progress.start(conformance::name_of(kernel));
    std::vector<Report> reports;
    for (const Isa isa : isas) {
      Report report;
      report.kernel = kernel;
      report.isa = isa;
      reports.push_back(report);
    }
    for (const Problem& problem : problems_of(kernel, options)) {
      add_problem(problem, threads, true, reports);
    }
    for (Report& report : reports) all.push_back(std::move(report));
  }
  return all;
}

int run(const Options& options) {
  const std::vector<Kernel> kernels = chosen_kernels(options);
  const std::vector<Isa> isas = chosen_isas(options);
  if (isas.empty()) {
    fmt::print(stderr, "equinorm check: {} is not available here; 'equinorm info' lists what is\n",
               options.isa);
    return kUnavailable;
  }
  const std::vector<Report> reports = survey(options, kernels, isas);
  if (options.json) {
    print_check_json(reports);
  } else if (options.markdown) {
    print_check_markdown(reports);
  } else {
    print_check_table(reports);
  }
  const bool passed =
      std::all_of(reports.begin(), reports.end(), [](const Report& r) { return r.passed(); });
  return passed ? kDone : kFailed;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "check",
      "Check the kernels on this machine: bits against the contract, errors against the bounds.");
  command->add_option("--op", options->op, "layer_norm or rms_norm; default: both")
      ->check(CLI::IsMember({"layer_norm", "rms_norm"}));
  command->add_option("--dtype", options->dtype,
                      "Type of x and y: f64, f32, f16, bf16, or two as x-y, for example bf16-f32; "
                      "default: all pairs");
  command->add_option("--isa", options->isa, "portable, neon, avx2 or avx3; default: all there are")
      ->check(CLI::IsMember({"portable", "neon", "avx2", "avx3"}));
  command->add_option("--rows", options->rows, "Rows; default: several sizes")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 31));
  command->add_option("--cols", options->cols, "Columns; default: several sizes")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 31));
  command->add_option("--accuracy", options->accuracy, "standard or exact; default: both")
      ->check(CLI::IsMember({"standard", "exact"}));
  command->add_option("--threads", options->threads, "Threads; default: 1, 2, 3 and 7 by turns")
      ->check(CLI::Range(1, 4096));
  auto* json = command->add_flag("--json", options->json, "One JSON document on stdout");
  command
      ->add_flag("--markdown", options->markdown,
                 "Worst errors by kind of input, as in docs/numerics.md")
      ->excludes(json);
  command->add_flag("--quiet", options->quiet, "No progress on stderr");
  command->footer(
      "Examples:\n"
      "  equinorm check                                  a survey of all kernels\n"
      "  equinorm check --op layer_norm --dtype bf16 --rows 16 --cols 4096\n\n"
      "Each kernel runs on odd sizes, layouts and thread counts and on inputs from constant rows "
      "to\n"
      "overflowing sums. 'equal' counts the runs whose bits are those of the contract. Errors are\n"
      "in the units of docs/numerics.md, worst first over all inputs, with the bound behind them.\n"
      "Exit code 1 if a run differs or a bound is broken, 4 if the instruction set is not here.");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace equinorm::cli
