// Tables of an experiment.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "lab/evidence/finding.hpp"
#include "lab/evidence/metric_text.hpp"
#include "lab/report/csv.hpp"
#include "lab/report/lab_report.hpp"
#include "lab/report/wording.hpp"

namespace equinorm::lab::report {
namespace {

bool is_swept(const ExperimentResults& results) {
  for (const Cell& cell : results.cells) {
    for (const RateCell& rate : cell.rates) {
      if (rate.learning_rate > 0) return true;
    }
  }
  return false;
}

/// "3 of 12: 2 stall, 1 blow-up"
std::string failure_text(const Cell& cell) {
  FailureCounts all;
  for (const RateCell& rate : cell.rates) {
    all.non_finite += rate.failures.non_finite;
    all.stall += rate.failures.stall;
    all.blow_up += rate.failures.blow_up;
    all.rate.n += rate.failures.rate.n;
  }
  std::vector<std::string> kinds;
  if (all.stall > 0) kinds.push_back(fmt::format("{} stall", all.stall));
  if (all.blow_up > 0) kinds.push_back(fmt::format("{} blow-up", all.blow_up));
  if (all.non_finite > 0) kinds.push_back(fmt::format("{} non-finite", all.non_finite));
  const std::string text = fmt::format("{} of {}", all.failed(), all.rate.n);
  return kinds.empty() ? text : fmt::format("{}: {}", text, fmt::join(kinds, ", "));
}

std::string longer_text(const Cell& cell) {
  if (cell.longer.empty()) return kDash;
  int failed = 0;
  for (const auto& [seed, record] : cell.longer) failed += record->failed() ? 1 : 0;
  return fmt::format("{} of {} failed again", failed, cell.longer.size());
}

// Names of the runs' notes; they need no place in the declaration.
std::set<std::string> notes_of(const ExperimentResults& results) {
  std::set<std::string> names;
  for (const Cell& cell : results.cells) {
    for (const RateCell& rate : cell.rates) {
      for (const auto& [seed, record] : rate.records) {
        for (const auto& [name, text] : record->notes) names.insert(name);
      }
    }
  }
  return names;
}

// What most seeds say, and how many do.
std::string note_text(const RateCell& rate, const std::string& name) {
  std::map<std::string, int> counts;
  for (const auto& [seed, record] : rate.records) {
    const auto note = record->notes.find(name);
    if (note != record->notes.end()) ++counts[note->second];
  }
  if (counts.empty()) return kDash;
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("{} ({} of {})", most->first, most->second, rate.records.size());
}

std::string point_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

std::string typeset(std::string text) {
  const std::pair<std::string, std::string> signs[] = {
      {"+-", kPlusMinus}, {"(n = ", fmt::format("(n{}={}", kSpace, kSpace)}};
  for (const auto& [plain, set] : signs) {
    for (std::size_t at = text.find(plain); at != std::string::npos; at = text.find(plain, at)) {
      text.replace(at, plain.size(), set);
    }
  }
  if (text == "-") return kDash;
  return text;
}

Table cells_table(const ExperimentResults& results) {
  const Declaration& declaration = *results.declaration;
  const bool swept = is_swept(results);
  Table table{.caption = "Every arm at every setting", .note = {}, .header = {"Arm"}, .rows = {}};
  for (const Axis& axis : declaration.axes) table.header.push_back(title_of_metric(axis.field));
  for (const std::string& metric : shown_metrics(declaration)) {
    table.header.push_back(title_of_metric(metric));
  }
  bool any_longer = false;
  for (const Cell& cell : results.cells) any_longer = any_longer || !cell.longer.empty();
  const std::set<std::string> notes = notes_of(results);
  for (const std::string& name : notes) table.header.push_back(title_of_metric(name));
  if (swept) table.header.insert(table.header.end(), {"best rate", "failed runs, all rates"});
  if (any_longer) table.header.emplace_back("with 4 times the steps");
  for (const Cell& cell : results.cells) {
    std::vector<std::string> row = {cell.arm};
    for (const Axis& axis : declaration.axes) row.push_back(point_text(cell.point.at(axis.field)));
    for (const std::string& metric : shown_metrics(declaration)) {
      row.push_back(typeset(finding_of({&cell}, metric).text));
    }
    for (const std::string& name : notes) {
      row.push_back(cell.best ? note_text(*cell.at_best(), name) : kDash);
    }
    if (swept) {
      row.push_back(cell.best ? fmt::format("{:g}", cell.at_best()->learning_rate) : kDash);
      row.push_back(failure_text(cell));
    }
    if (any_longer) row.push_back(longer_text(cell));
    table.rows.push_back(row);
  }
  if (swept) {
    table.note =
        "Each arm at its own best rate, one with the fewest failed runs. Stalled runs count with "
        "what they ended at; runs that became non-finite or blew up are not part of the means. "
        "Intervals are 95 % t-intervals over seeds, of shares Wilson's.";
  }
  const std::vector<std::string> metrics = shown_metrics(declaration);
  if (std::find(metrics.begin(), metrics.end(), "steps_to_target") != metrics.end()) {
    table.note +=
        " A run that never reached its target counts as reaching it one evaluation behind its end.";
  }
  return table;
}

std::string runs_csv(const ExperimentResults& results) {
  const Declaration& declaration = *results.declaration;
  std::vector<std::string> header = {"arm"};
  for (const Axis& axis : declaration.axes) header.push_back(axis.field);
  header.insert(header.end(), {"learning_rate", "seed", "failure"});
  const std::vector<std::string> metrics = shown_metrics(declaration);
  header.insert(header.end(), metrics.begin(), metrics.end());
  Csv csv(header);
  for (const Cell& cell : results.cells) {
    for (const RateCell& rate : cell.rates) {
      for (const auto& [seed, record] : rate.records) {
        std::vector<std::string> row = {cell.arm};
        for (const Axis& axis : declaration.axes) {
          row.push_back(point_text(cell.point.at(axis.field)));
        }
        row.push_back(rate.learning_rate > 0 ? csv_number(rate.learning_rate) : "");
        row.push_back(std::to_string(seed));
        row.push_back(record->failure);
        for (const std::string& metric : metrics) row.push_back(csv_number(record->metric(metric)));
        csv.add(row);
      }
    }
  }
  return csv.text();
}

}  // namespace equinorm::lab::report
