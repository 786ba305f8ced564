#include "lab/evidence/lab_diff.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/evidence/finding.hpp"
#include "lab/experiment/text_table.hpp"

namespace equinorm::lab {
namespace {

struct Counts {
  int equal = 0;
  int undecided = 0;
};

void compare_metric(const Cell& before, const Cell& after, const std::string& metric,
                    const std::string& where, Counts& counts, std::vector<TextRow>& rows) {
  const Contrast contrast{{&after}, {&before}};
  const BySeed differences = differences_of(contrast, metric, false);
  const bool all_zero = !differences.empty() &&
                        std::all_of(differences.begin(), differences.end(),
                                    [](const auto& difference) { return difference.second == 0; });
  if (all_zero || metric_over({&before}, metric) == metric_over({&after}, metric)) {
    ++counts.equal;
    return;
  }
  const Finding difference = difference_of(contrast, metric, false);
  const bool found = difference.excludes_zero();
  counts.undecided += found ? 0 : 1;
  rows.push_back({where, metric, finding_of({&before}, metric).text,
                  finding_of({&after}, metric).text, difference.text,
                  found                   ? "differs"
                  : difference.can_find() ? "no difference found"
                                          : "needs 3 seeds in both"});
}

void compare_experiment(const ExperimentResults& before, const ExperimentResults& after,
                        Counts& counts, std::vector<TextRow>& rows) {
  const Declaration& declaration = *after.declaration;
  for (const Cell& cell : after.cells) {
    const Cell* other = before.find(cell.arm, cell.point);
    if (other == nullptr) continue;
    const std::string point = describe_point(cell.point);
    const std::string where =
        declaration.id + " " + cell.arm + (point.empty() ? "" : " (" + point + ")");
    for (const std::string& metric : shown_metrics(declaration)) {
      compare_metric(*other, cell, metric, where, counts, rows);
    }
  }
}

/// The row of `rows` that judges the same; null where none does.
const ClaimRow* same_row(const std::vector<ClaimRow>& rows, const ClaimRow& wanted) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const ClaimRow& row) {
    return row.claim == wanted.claim && row.experiment == wanted.experiment &&
           row.tested == wanted.tested;
  });
  return found == rows.end() ? nullptr : &*found;
}

std::string verdict_changes(const LabResults& before, const LabResults& after) {
  std::vector<TextRow> rows = {{"claim", "from", "before", "after", "what was judged"}};
  const auto outcome = [](const ClaimRow* row) {
    return row == nullptr ? "-" : name_of(row->verdict.outcome);
  };
  for (const ClaimRow& row : after.rows) {
    const ClaimRow* old_row = same_row(before.rows, row);
    const bool changed =
        old_row == nullptr ? !row.tested.empty() : old_row->verdict.outcome != row.verdict.outcome;
    if (changed) {
      rows.push_back({row.claim, row.experiment, outcome(old_row), outcome(&row), row.tested});
    }
  }
  for (const ClaimRow& row : before.rows) {
    if (row.tested.empty() || same_row(after.rows, row) != nullptr) continue;
    rows.push_back({row.claim, row.experiment, outcome(&row), outcome(nullptr), row.tested});
  }
  if (rows.size() == 1) return "No verdict changed.\n";
  return "Verdicts that changed:\n\n" + align_left(rows);
}

}  // namespace

std::string render_diff(const LabResults& before, const LabResults& after) {
  Counts counts;
  std::vector<TextRow> rows = {{"where", "metric", "before", "after", "after - before", ""}};
  for (const ExperimentResults& result : after.results) {
    for (const ExperimentResults& other : before.results) {
      if (other.declaration->id == result.declaration->id) {
        compare_experiment(other, result, counts, rows);
      }
    }
  }
  std::string text = verdict_changes(before, after);
  text += fmt::format(
      "\n{} metrics are equal, {} differ beyond their interval, {} are undecided.\n", counts.equal,
      rows.size() - 1 - static_cast<std::size_t>(counts.undecided), counts.undecided);
  if (rows.size() > 1) text.append("\n").append(align_left(rows));
  return text;
}

}  // namespace equinorm::lab
