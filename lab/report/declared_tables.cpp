// Tables that declarations ask for: a row per arm, a column per metric, over the settings that they
// name.
#include <fmt/format.h>

#include <algorithm>

#include "lab/evidence/finding.hpp"
#include "lab/evidence/metric_text.hpp"
#include "lab/report/csv.hpp"
#include "lab/report/lab_report.hpp"
#include "lab/report/wording.hpp"

namespace equinorm::lab::report {
namespace {

const ExperimentResults* source_of(const std::string& id,
                                   const std::vector<ExperimentResults>& all) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const ExperimentResults& results) {
    return results.declaration->id == id;
  });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> arms_of(const TableSpec& spec, const ExperimentResults& source) {
  if (!spec.arms.empty()) return spec.arms;
  std::vector<std::string> arms;
  for (const ArmSpec& arm : source.declaration->arms) arms.push_back(arm.name);
  return arms;
}

std::string note_of(const TableSpec& spec, const ExperimentResults& source,
                    const std::vector<std::string>& unplanned) {
  const std::string missing = source.missing_setting(spec.at);
  if (!missing.empty()) return "Not measurable here: " + missing + ".";
  const std::string at = describe_point(spec.at);
  std::string text = fmt::format(
      "From {}, tier {}{}. Mean and 95 % t-interval over n seeds, of "
      "shares Wilson's interval.",
      source.declaration->id, source.tier, at.empty() ? "" : ", " + at);
  if (!unplanned.empty()) {
    text += fmt::format(" Not in this tier: {}.", fmt::join(unplanned, ", "));
  }
  return text;
}

void fill(DeclaredTable& shown, const TableSpec& spec, const ExperimentResults& source) {
  Csv csv({"arm", "metric", "mean", "low", "high", "n"});
  std::vector<std::string> unplanned;
  for (const std::string& arm : arms_of(spec, source)) {
    const std::vector<Point> points = source.points_of({arm}, spec.at);
    if (points.empty()) {
      unplanned.push_back(arm);
      continue;
    }
    std::vector<std::string> row = {arm};
    for (const std::string& metric : spec.columns) {
      const Finding found = finding_of(cells_at(source, arm, points), metric);
      row.push_back(typeset(found.text));
      csv.add({arm, metric, csv_number(found.mean), csv_number(found.low), csv_number(found.high),
               std::to_string(found.n)});
    }
    shown.table.rows.push_back(std::move(row));
  }
  shown.table.note = note_of(spec, source, unplanned);
  shown.csv = csv.text();
}

}  // namespace

std::vector<DeclaredTable> declared_tables(const Declaration& declaration,
                                           const std::vector<ExperimentResults>& all) {
  std::vector<DeclaredTable> tables;
  for (const TableSpec& spec : declaration.tables) {
    DeclaredTable shown;
    shown.id = fmt::format("{}-table-{}", declaration.id, tables.size() + 1);
    shown.claim = spec.claim;
    shown.table.caption = spec.title;
    shown.table.header = {"Arm"};
    for (const std::string& metric : spec.columns) {
      shown.table.header.push_back(title_of_metric(metric));
    }
    const std::string from = spec.from.empty() ? declaration.id : spec.from;
    if (const ExperimentResults* source = source_of(from, all)) {
      fill(shown, spec, *source);
    } else {
      shown.table.note = "This folder has no runs of " + from + ".";
    }
    tables.push_back(std::move(shown));
  }
  return tables;
}

}  // namespace equinorm::lab::report
