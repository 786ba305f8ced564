// The comparison bit for bit between the public interface and the contract oracle.
#include <cinttypes>
#include <cstdio>
#include <utility>

#include "conformance/execution.hpp"

namespace equinorm::conformance {
namespace {

using Bits = std::vector<std::uint64_t>;

std::string first_difference(const char* name, const Bits& expected, const Bits& actual,
                             std::int64_t cols) {
  if (actual == expected) return "";
  if (expected.size() != actual.size()) return std::string(name) + " has another size";
  std::size_t i = 0;
  while (expected[i] == actual[i]) ++i;
  const auto [row, col] =
      std::pair(static_cast<std::int64_t>(i) / cols, static_cast<std::int64_t>(i) % cols);
  std::size_t count = 0;
  for (std::size_t k = i; k < expected.size(); ++k) count += expected[k] != actual[k] ? 1 : 0;
  char text[200];
  std::snprintf(text, sizeof text,
                "%s[%" PRId64 ", %" PRId64 "] is %" PRIx64 ", must be %" PRIx64
                " (%zu of %zu elements differ)",
                name, row, col, actual[i], expected[i], count, expected.size());
  return text;
}

std::string first_difference(const Outputs& expected, const Outputs& actual, std::int64_t cols) {
  const struct {
    const char* name;
    Bits Outputs::*member;
    std::int64_t cols;
  } parts[] = {
      {"y", &Outputs::y, cols},           {"dx", &Outputs::dx, cols},
      {"dgamma", &Outputs::dgamma, cols}, {"dbeta", &Outputs::dbeta, cols},
      {"mean", &Outputs::mean, 1},        {"mean_tail", &Outputs::mean_tail, 1},
      {"rstd", &Outputs::rstd, 1},        {"exact", &Outputs::exact, 1},
  };
  for (const auto& part : parts) {
    const Bits& bits = actual.*part.member;
    if (bits.empty()) continue;  // not asked for
    std::string text = first_difference(part.name, expected.*part.member, bits, part.cols);
    if (!text.empty()) return text;
  }
  return "";
}

Bits slice(const Bits& v, std::int64_t row, std::int64_t cols) {
  if (v.empty()) return {};
  return {v.begin() + row * cols, v.begin() + (row + 1) * cols};
}

std::vector<double> slice(const std::vector<double>& v, std::int64_t row, std::int64_t cols) {
  if (v.empty()) return {};
  return {v.begin() + row * cols, v.begin() + (row + 1) * cols};
}

std::string compare_one_row(Problem problem, Inputs inputs, const Outputs& all, Execution execution,
                            Context& context) {
  const std::int64_t row = *execution.only_row;
  const std::int64_t cols = problem.cols;
  problem.rows = 1;
  inputs.x = slice(inputs.x, row, cols);
  inputs.dy = slice(inputs.dy, row, cols);
  execution.only_row.reset();
  execution.wanted = {true, false, false};
  Outputs part;
  part.y = slice(all.y, row, cols);
  part.dx = slice(all.dx, row, cols);
  part.mean = slice(all.mean, row, 1);
  part.mean_tail = slice(all.mean_tail, row, 1);
  part.rstd = slice(all.rstd, row, 1);
  part.exact = slice(all.exact, row, 1);
  return compare(problem, inputs, part, execution, context);
}

}  // namespace

Outputs expected(const Problem& problem, const Inputs& inputs) {
  Execution execution;
  execution.statistics = true;
  Problem forward = problem;
  forward.direction = Direction::forward;
  Call statistics(forward, inputs, execution);
  statistics.run_reference();
  Outputs result = statistics.outputs();
  if (problem.direction == Direction::backward) {
    execution.statistics = false;
    Call call(problem, inputs, execution);
    call.run_reference();
    const Outputs backward = call.outputs();
    result.y.clear();
    result.dx = backward.dx;
    result.dgamma = backward.dgamma;
    result.dbeta = backward.dbeta;
  }
  return result;
}

std::string compare(const Problem& problem, const Inputs& inputs, const Outputs& expected,
                    const Execution& execution, Context& context) {
  if (execution.only_row && problem.rows > 0) {
    return compare_one_row(problem, inputs, expected, execution, context);
  }
  const bool backward = problem.direction == Direction::backward;
  const bool saved = backward && execution.statistics && problem.saves_statistics();
  Call call(problem, inputs, execution, saved ? &expected : nullptr);
  std::string text;
  const Status status = call.run(context);
  if (!status.ok()) {
    text = equinorm::describe(status);
  } else if (context.last_isa() != execution.isa) {
    text = std::string("ran the kernel of ") + equinorm::name_of(context.last_isa());
  } else {
    text = first_difference(expected, call.outputs(), problem.cols);
    if (text.empty()) text = call.side_effects();
  }
  if (text.empty()) return text;
  return describe(problem) + " | " + describe(execution) + " | " + text;
}

std::string describe(const Execution& execution) {
  const Layout& layout = execution.layout;
  std::string text = equinorm::name_of(execution.isa);
  text += " threads=" + std::to_string(execution.threads);
  if (layout.offset != 0) text += " offset=" + std::to_string(layout.offset);
  if (layout.gap != 0) text += " gap=" + std::to_string(layout.gap);
  if (layout.reversed) text += " reversed";
  if (execution.vector_offset != 0) {
    text += " vector_offset=" + std::to_string(execution.vector_offset);
  }
  if (execution.statistics) text += " statistics";
  if (execution.in_place == InPlace::on_x) text += " in place on x";
  if (execution.in_place == InPlace::on_dy) text += " in place on dy";
  const Wanted& wanted = execution.wanted;
  if (!wanted.dx) text += " without dx";
  if (!wanted.dgamma) text += " without dgamma";
  if (!wanted.dbeta) text += " without dbeta";
  return text;
}

}  // namespace equinorm::conformance
