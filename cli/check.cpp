// `equinorm check`: compares the operators bit for bit with the contract oracle and measures their
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
#include "conformance/operators.hpp"
#include "conformance/survey.hpp"
#include "memory.hpp"

namespace equinorm::cli {
namespace {

using namespace conformance;

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
std::vector<Subject> chosen_subjects(const Options& options) {
  std::vector<Subject> subjects = subjects_of(options.op);
  std::erase_if(subjects, [&](const Subject& subject) {
    if (!options.dtype) return options.markdown && subject.x != subject.y;
    return options.dtype != types_of(subject);
  });
  if (subjects.empty()) {
    throw UsageError(
        fmt::format("--dtype = '{}': must be f64, f32, f16 or bf16, or two of them as x-y, for "
                    "example bf16-f32, that {} is surveyed with",
                    options.dtype.value_or(""), options.op.empty() ? "a kernel" : options.op));
  }
  return subjects;
}

// Empty where the instruction set is known but not available here.
std::vector<Isa> chosen_isas(const Options& options) {
  const auto available = available_isas();
  std::vector<Isa> isas(available.begin(), available.end());
  if (options.isa.empty()) return isas;
  std::erase_if(isas, [&](Isa isa) { return options.isa != equinorm::name_of(isa); });
  return isas;
}

Amount amount_of(const Options& options) {
  Amount amount;
  if (options.markdown) amount.scale = Scale::full;
  amount.rows = options.rows;
  amount.cols = options.cols;
  if (options.accuracy == "standard") amount.accuracy = Accuracy::standard;
  if (options.accuracy == "exact") amount.accuracy = Accuracy::exact;
  if (amount.has_shape()) {
    require_memory(amount.shape_rows(), amount.shape_cols(), bytes_per_element_of(options.op));
  }
  return amount;
}

std::vector<Report> survey(const Options& options, const std::vector<Subject>& subjects,
                           const std::vector<Isa>& isas) {
  const Amount amount = amount_of(options);
  std::optional<int> threads;
  if (options.threads > 0) threads = options.threads;
  std::vector<Report> all;
  CheckProgress progress(subjects.size(), options.quiet);
  for (const Subject& subject : subjects) {
    progress.start(conformance::name_of(subject));
    std::vector<Report> reports;
    for (const Isa isa : isas) {
      Report report;
      report.subject = subject;
      report.isa = isa;
      reports.push_back(report);
    }
    subject.each(amount, [&](Trial& trial) { add_trial(trial, threads, reports); });
    for (Report& report : reports) all.push_back(std::move(report));
  }
  return all;
}

int run(const Options& options) {
  const std::vector<Subject> subjects = chosen_subjects(options);
  const std::vector<Isa> isas = chosen_isas(options);
  if (isas.empty()) {
    fmt::print(stderr, "equinorm check: {} is not available here; 'equinorm info' lists what is\n",
               options.isa);
    return kUnavailable;
  }
  const std::vector<Report> reports = survey(options, subjects, isas);
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

/// "all, layer_norm, ..., or a form of 'equinorm forms'; default: layer_norm, rms_norm"
std::string operators_text() {
  std::string text = "all";
  std::string quick;
  for (const CheckedOperator& op : checked_operators()) {
    text += std::string(", ") + op.name;
    if (op.quick) quick += (quick.empty() ? "" : ", ") + std::string(op.name);
  }
  return text + ", or a norm of 'equinorm forms' as AdaNorm; default: " + quick;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "check",
      "Check the operators on this machine: bits against the contract, errors against the bounds.");
  command->add_option("--op", options->op, operators_text())
      ->check(CLI::IsMember(checked_names()).description(""));
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
      "  equinorm check                                  layer_norm and rms_norm, seconds\n"
      "  equinorm check --op all                         every operator, minutes\n"
      "  equinorm check --op layer_norm --dtype bf16 --rows 16 --cols 4096\n\n"
      "Batch, group, image and head norms and modulation are arrangements of grouped_norm and\n"
      "fused_norm.\n\n"
      "Each operator runs on odd sizes, layouts and thread counts and on inputs from constant rows "
      "to\n"
      "overflowing sums. 'equal' counts the runs whose bits are those of the contract. Errors are\n"
      "in the units of docs/numerics.md, worst first over all inputs, with the bound behind them.\n"
      "Exit code 1 if a run differs or a bound is broken, 4 if the instruction set is not here.");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace equinorm::cli
