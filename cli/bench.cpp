// `equinorm bench`: chooses the cases and prints what bench/ measures.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/print.hpp"
#include "bench/run.hpp"
#include "command.hpp"
#include "environment.hpp"
#include "memory.hpp"

namespace equinorm::cli {
namespace {

using bench::Case;
using bench::Direction;
using bench::Op;

struct Options {
  std::vector<std::string> ops = {"layer_norm", "rms_norm"};
  std::vector<std::string> directions = {"fwd", "bwd", "fwd+bwd"};
  std::vector<std::string> dtypes = {"f32", "bf16"};
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<int> threads =
      std::thread::hardware_concurrency() > 1 ? std::vector<int>{1, 2} : std::vector<int>{1};
  double seconds = 0.5;
  bool json = false;
};

template <class Value>
using Names = std::map<std::string, Value>;

Names<Op> op_names() {
  Names<Op> names;
  for (const bench::OpInfo& op : bench::kOps) names[op.name] = op.op;
  return names;
}
const Names<Op> kOps = op_names();

std::string op_help() {
  std::string help = "Operators, default layer_norm,rms_norm:";
  for (const bench::OpInfo& op : bench::kOps) help += std::string("\n") + op.name;
  return help;
}
const Names<Direction> kDirections = {
    {"fwd", Direction::forward}, {"bwd", Direction::backward}, {"fwd+bwd", Direction::both}};
const Names<DType> kTypes = {
    {"f64", DType::f64}, {"f32", DType::f32}, {"f16", DType::f16}, {"bf16", DType::bf16}};

std::vector<std::pair<std::int64_t, std::int64_t>> shapes_of(const Options& options) {
  if (options.rows != 0 || options.cols != 0) {
    return {{options.rows != 0 ? options.rows : 4096, options.cols != 0 ? options.cols : 1024}};
  }
  // The cost of a call; in cache; about the cache's size; far beyond it.
  return {{4, 64}, {64, 1024}, {4096, 1024}, {4096, 4096}};
}

// A case holds about twelve tensors of its shape: inputs, outputs of each contender, two copies.
void check_memory(const Case& c) {
  require_memory(c.rows, c.cols, 12.0 * static_cast<double>(size_of(c.dtype)));
}

std::vector<Case> cases_of(const Options& options) {
  std::vector<Case> cases;
  for (const auto& op : options.ops) {
    for (const auto& direction : options.directions) {
      for (const auto& dtype : options.dtypes) {
        for (const auto& [rows, cols] : shapes_of(options)) {
          for (const int threads : options.threads) {
            cases.push_back(
                {kOps.at(op), kDirections.at(direction), kTypes.at(dtype), rows, cols, threads});
          }
        }
      }
    }
  }
  return cases;
}

int run(const Options& options) {
  if (std::isnan(options.seconds)) {  // which no range excludes
    throw UsageError("--seconds = nan: must be a number from 0 to 3600");
  }
  for (const auto& op : options.ops) {
    if (!bench::has_torch() && !bench::info_of(kOps.at(op)).in_core) {
      std::cerr << "equinorm bench: --op " << op << ": needs a build with LibTorch\n";
      return kUnavailable;
    }
  }
  const auto cases = cases_of(options);
  for (const Case& c : cases) check_memory(c);
  const auto here = environment();
  if (!options.json) std::cout << bench::text_header(here) << std::flush;
  std::vector<bench::CaseResult> results;
  int exit_code = kDone;
  for (const Case& c : cases) {
    results.push_back(bench::run_case(c, options.seconds));
    if (!results.back().fault.empty()) exit_code = kFailed;
    if (!options.json) std::cout << bench::text_of(results.back()) << std::flush;
  }
  if (options.json) std::cout << bench::json_of(here, options.seconds, results);
  return exit_code;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand("bench", "Equinorm, PyTorch and a memory copy, side by side");
  sub->add_option("--op", options->ops, op_help())->delimiter(',')->check(CLI::IsMember(kOps));
  sub->add_option("--direction", options->directions, "Directions: fwd, bwd, fwd+bwd")
      ->delimiter(',')
      ->check(CLI::IsMember(kDirections));
  sub->add_option("--dtype", options->dtypes, "Types: f64, f32, f16, bf16")
      ->delimiter(',')
      ->check(CLI::IsMember(kTypes));
  sub->add_option("--rows", options->rows, "Rows; default four shapes, 4096 with --cols")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 32));
  sub->add_option("--cols", options->cols, "Columns; default four shapes, 1024 with --rows")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 32));
  sub->add_option("--threads", options->threads, "Thread counts; default 1,2")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096));
  sub->add_option("--seconds", options->seconds, "Seconds per case; at least five rounds are run")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  sub->add_flag("--json", options->json, "Print one JSON document");
  sub->footer(
      "Example:\n  equinorm bench --op layer_norm --dtype f32 --rows 4096 --cols 1024\n\n"
      "Exit code 1 where a contender computed something wrong.");
  sub->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace equinorm::cli
