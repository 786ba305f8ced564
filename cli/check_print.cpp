// Tables and documents of `equinorm check`.
#include "check_print.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "equinorm/types.hpp"

namespace equinorm::cli {
namespace {

using namespace conformance;
using Json = nlohmann::ordered_json;

Json number(double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); }

void print_errors(const std::string& name, const std::string& equal, const char* accuracy,
                  const std::vector<Errors>& worst) {
  std::string first = name;
  std::string second = equal;
  for (const Errors& e : worst) {
    fmt::print("{:<32} {:>11}  {:<8} {:<9} {:>9.3g} {:>8.0f}% {:>11.3g}{}\n", first, second,
               accuracy, name_of(e.output), e.scale_ulp, 100 * e.share, e.output_ulp,
               e.share <= 1 ? "" : "  BOUND BROKEN");
    first.clear();
    second.clear();
  }
}

Json errors_json(const char* accuracy, const std::vector<Errors>& worst) {
  Json list = Json::array();
  for (const Errors& e : worst) {
    list.push_back({{"output", name_of(e.output)},
                    {"accuracy", accuracy},
                    {"scale_ulp", number(e.scale_ulp)},
                    {"row_ulp", number(e.row_ulp)},
                    {"output_ulp", number(e.output_ulp)},
                    {"bound", number(e.bound)},
                    {"share_of_bound", number(e.share)}});
  }
  return list;
}

// Columns of a Markdown table: an output of an operator, in the order in which they came.
using Column = std::pair<std::string, Output>;

struct FamilyTable {
  std::vector<Column> columns;
  std::map<Column, double> bounds;  // the least that an error was held against
  std::map<Column, std::map<Family, double>> cells;

  void add(const Column& column, Family family, const Errors& e) {
    if (cells.find(column) == cells.end()) columns.push_back(column);
    double& cell = cells[column][family];
    cell = std::max(cell, e.scale_ulp);
    double& bound = bounds.try_emplace(column, e.bound).first->second;
    bound = std::min(bound, e.bound);
  }
};

std::string column_title(const Column& column) {
  const std::string& op = column.first;
  return fmt::format("{} {}",
                     op == "layer_norm" ? "LN"
                     : op == "rms_norm" ? "RMS"
                                        : op,
                     name_of(column.second));
}

void print_family_table(const std::string& types, const FamilyTable& table) {
  fmt::print("\nx and y in {}:\n\n| input |", types);
  for (const Column& column : table.columns) fmt::print(" {} |", column_title(column));
  fmt::print("\n| --- |");
  for (std::size_t i = 0; i < table.columns.size(); ++i) fmt::print(" ---: |");
  fmt::print("\n| bound |");
  for (const Column& column : table.columns) fmt::print(" {:g} |", table.bounds.at(column));
  fmt::print("\n");
  for (const Family family : all_families()) {
    fmt::print("| {} |", conformance::name_of(family));
    for (const Column& column : table.columns) {
      const auto& cells = table.cells.at(column);
      const auto found = cells.find(family);
      fmt::print(" {} |", found == cells.end() ? "" : fmt::format("{:.2f}", found->second));
    }
    fmt::print("\n");
  }
}

}  // namespace

CheckProgress::CheckProgress(std::size_t total, bool quiet)
    : total_(total),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) != 0),
      begin_(std::chrono::steady_clock::now()),
      last_line_(begin_) {}

CheckProgress::~CheckProgress() {
  if (!quiet_ && terminal_) fmt::print(stderr, "\r\033[K");
}

void CheckProgress::start(const std::string& name) {
  ++started_;
  if (quiet_) return;
  const auto now = std::chrono::steady_clock::now();
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  const std::size_t done = started_ - 1;
  const double left =
      done == 0 ? 0 : elapsed / static_cast<double>(done) * static_cast<double>(total_ - done);
  const std::string eta = done == 0 ? "" : fmt::format(", {:.0f} s left", left);
  if (terminal_) {
    fmt::print(stderr, "\r\033[K[{}/{}] {}{}", started_, total_, name, eta);
    std::fflush(stderr);
  } else if (started_ == 1 || now - last_line_ > std::chrono::seconds(5)) {
    fmt::print(stderr, "[{}/{}] {}{}\n", started_, total_, name, eta);
    last_line_ = now;
  }
}

void print_check_table(const std::vector<Report>& reports) {
  fmt::print("{:<32} {:>11}  {:<8} {:<9} {:>9} {:>9} {:>11}\n", "kernel", "equal", "accuracy",
             "output", "scale ulp", "of bound", "output ulp");
  int failed = 0;
  std::int64_t comparisons = 0;
  for (const Report& report : reports) {
    const int equal = report.comparisons - report.differences;
    const std::string count = fmt::format("{}/{}", equal, report.comparisons);
    const std::string name = conformance::name_of(report);
    if (report.worst.empty() && report.worst_exact.empty())
      fmt::print("{:<32} {:>11}\n", name, count);
    print_errors(name, count, "standard", report.worst);
    print_errors(report.worst.empty() ? name : "", report.worst.empty() ? count : "", "exact",
                 report.worst_exact);
    if (report.differences > 0) fmt::print("  DIFFERS: {}\n", report.first_difference);
    failed += report.passed() ? 0 : 1;
    comparisons += report.comparisons;
  }
#if !EQUINORM_HAS_TRUTH
  fmt::print("Errors were not measured: this build has no truth oracle (MPFR).\n");
#endif
  fmt::print("{} kernels and operators, {} runs compared bit for bit with the contract: {}\n",
             reports.size(), comparisons,
             failed == 0 ? "all passed" : fmt::format("{} FAILED", failed));
}

void print_check_json(const std::vector<Report>& reports) {
  Json kernels = Json::array();
  bool passed = true;
  for (const Report& report : reports) {
    Json outputs = errors_json("standard", report.worst);
    for (auto& e : errors_json("exact", report.worst_exact)) outputs.push_back(e);
    kernels.push_back({{"kernel", conformance::name_of(report)},
                       {"comparisons", report.comparisons},
                       {"differences", report.differences},
                       {"first_difference",
                        report.differences > 0 ? Json(report.first_difference) : Json(nullptr)},
                       {"outputs", outputs},
                       {"passed", report.passed()}});
    passed = passed && report.passed();
  }
  const Json document = {{"numerics_version", kNumericsVersion},
                         {"truth", EQUINORM_HAS_TRUTH != 0},
                         {"kernels", kernels},
                         {"passed", passed}};
  std::cout << document.dump(2) << '\n';
}

void print_check_markdown(const std::vector<Report>& reports) {
  std::map<std::string, FamilyTable> tables;
  for (const Report& report : reports) {
    FamilyTable& table = tables[types_of(report.subject)];
    for (const FamilyErrors& errors : report.families) {
      for (const Errors& e : errors.worst)
        table.add({report.subject.op, e.output}, errors.family, e);
    }
  }
  for (const auto& [types, table] : tables) print_family_table(types, table);
}

}  // namespace equinorm::cli
