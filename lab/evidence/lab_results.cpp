#include "lab/evidence/lab_results.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lab/evidence/builtin.hpp"
#include "lab/evidence/finding.hpp"
#include "lab/evidence/tables.hpp"
#include "lab/experiment/text_table.hpp"

namespace equinorm::lab {
namespace {

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json export_cell(const Cell& cell, const Declaration& declaration) {
  Json metrics = Json::object();
  for (const std::string& name : shown_metrics(declaration)) {
    const Finding found = finding_of({&cell}, name);
    metrics[name] = {{"n", found.n},
                     {"mean", finite(found.mean)},
                     {"low", finite(found.low)},
                     {"high", finite(found.high)},
                     {"text", found.text}};
  }
  const RateCell* best = cell.at_best();
  const bool swept = best != nullptr && best->learning_rate > 0;
  return {{"arm", cell.arm},
          {"point", cell.point},
          {"best_learning_rate", swept ? Json(best->learning_rate) : Json(nullptr)},
          {"failed_at_best", best == nullptr ? Json(nullptr) : Json(best->failures.failed())},
          {"metrics", metrics}};
}

Json export_row(const ClaimRow& row) {
  return {{"claim", row.claim},
          {"says", row.says},
          {"tested", row.tested},
          {"literature", row.literature},
          {"experiment", row.experiment.empty() ? Json(nullptr) : Json(row.experiment)},
          {"verdict", name_of(row.verdict.outcome)},
          {"number", row.verdict.number},
          {"n", row.verdict.n},
          {"detail", row.verdict.detail}};
}

int missing_runs(const ExperimentResults& result) {
  return result.planned - result.done - result.crashed;
}

bool is_shortened(const StoredExperiment& experiment) {
  return experiment.declaration.tiers.at(experiment.request.tier).shortened;
}

/// A verdict from a few steps shows that judging works, and nothing else.
void mark_shortened(const StoredExperiment& experiment, std::vector<ClaimRow>& rows) {
  for (ClaimRow& row : rows) {
    if (row.experiment != experiment.declaration.id || row.tested.empty()) continue;
    const std::string& detail = row.verdict.detail;
    row.verdict.detail = "smoke tier, no finding" + (detail.empty() ? "" : ": " + detail);
  }
}

}  // namespace

std::unique_ptr<LabResults> load_lab(const std::filesystem::path& out_dir, const RunKinds& kinds) {
  auto lab = std::make_unique<LabResults>();
  lab->stored = load_experiments(out_dir);
  lab->store = std::make_unique<RecordStore>(out_dir);
  for (const StoredExperiment& experiment : lab->stored) {
    const auto plan = plan_experiment(experiment.declaration, experiment.request, kinds);
    const Tier& tier = experiment.declaration.tiers.at(experiment.request.tier);
    const auto longer =
        tier.rerun_stalls ? plan_longer_runs(plan, *lab->store) : std::vector<PlannedRun>{};
    lab->results.push_back(
        gather_results(experiment.declaration, experiment.request.tier, plan, longer, *lab->store));
  }
  const EmbeddedFile claims = embedded_claims();
  lab->claims = parse_claims(std::string(claims.text), std::string(claims.name));
  lab->rows = judge_claims(lab->claims, lab->results);
  for (const StoredExperiment& experiment : lab->stored) {
    if (is_shortened(experiment)) mark_shortened(experiment, lab->rows);
  }
  lab->environments = load_environments(out_dir);
  return lab;
}

void check_stored(const std::filesystem::path& out_dir, const RunKinds& kinds,
                  const std::set<std::string>& experiments) {
  for (const StoredExperiment& other : load_other_experiments(out_dir, experiments)) {
    static_cast<void>(plan_experiment(other.declaration, other.request, kinds));
  }
}

std::string render_damage(const LabResults& lab) {
  std::string text;
  for (const auto& [run, complaint] : lab.store->damaged()) {
    text += "warning: " + complaint + ": the run is damaged and counts as missing\n";
  }
  for (const std::string& complaint : lab.environments.damaged) {
    text += "warning: " + complaint + ": the report leaves this machine out\n";
  }
  return text;
}

std::string smoke_note(const LabResults& lab) {
  std::string ids;
  for (const StoredExperiment& experiment : lab.stored) {
    if (is_shortened(experiment)) ids += (ids.empty() ? "" : ", ") + experiment.declaration.id;
  }
  return ids.empty() ? "" : "No finding, being of the smoke tier: " + ids + ".";
}

std::string render_verdicts(const LabResults& lab, bool all) {
  std::vector<TextRow> rows = {{"claim", "from", "verdict", "n", "number", "what was judged"}};
  for (const ClaimRow& row : lab.rows) {
    const bool judged = !row.tested.empty();
    if (!judged && !all) continue;
    std::string what = judged ? row.tested : row.says;
    const bool without_number =
        row.verdict.outcome == Outcome::not_measurable || row.verdict.outcome == Outcome::not_run;
    if (without_number && !row.verdict.detail.empty()) what += " (" + row.verdict.detail + ")";
    rows.push_back({row.claim, row.experiment, name_of(row.verdict.outcome),
                    row.verdict.n > 0 ? std::to_string(row.verdict.n) : "", row.verdict.number,
                    what});
  }
  if (rows.size() == 1) return "No rule asks for a verdict; the report has the numbers.\n";
  const std::string note = smoke_note(lab);
  return align_left(rows) + (note.empty() ? "" : "\n" + note + "\n");
}

std::string count_runs(const LabResults& lab) {
  int done = 0;
  int planned = 0;
  for (const ExperimentResults& result : lab.results) {
    done += result.done;
    planned += result.planned;
  }
  return fmt::format("{} of {} runs", done, planned);
}

std::string render_status(const LabResults& lab) {
  std::vector<TextRow> rows = {{"experiment", "tier", "runs", "done", "missing", "crashed", ""}};
  for (std::size_t i = 0; i < lab.results.size(); ++i) {
    const ExperimentResults& result = lab.results[i];
    if (result.declaration->arms.empty()) {
      rows.push_back(
          {result.declaration->id, lab.stored[i].request.tier, "-", "-", "-", "-",
           fmt::format("tables of {}", fmt::join(sources_of(*result.declaration), ", "))});
      continue;
    }
    rows.push_back({result.declaration->id, lab.stored[i].request.tier,
                    std::to_string(result.planned), std::to_string(result.done),
                    std::to_string(missing_runs(result)), std::to_string(result.crashed),
                    result.declaration->title});
  }
  return align_rows(rows);
}

Json export_status(const LabResults& lab) {
  Json status = Json::array();
  for (std::size_t i = 0; i < lab.results.size(); ++i) {
    const ExperimentResults& result = lab.results[i];
    status.push_back({{"id", result.declaration->id},
                      {"tier", lab.stored[i].request.tier},
                      {"planned", result.planned},
                      {"done", result.done},
                      {"missing", missing_runs(result)},
                      {"crashed", result.crashed}});
  }
  return status;
}

Json export_lab(const LabResults& lab) {
  Json verdicts = Json::array();
  for (const ClaimRow& row : lab.rows) verdicts.push_back(export_row(row));
  Json experiments = Json::array();
  for (std::size_t i = 0; i < lab.results.size(); ++i) {
    const ExperimentResults& result = lab.results[i];
    Json cells = Json::array();
    for (const Cell& cell : result.cells) cells.push_back(export_cell(cell, *result.declaration));
    experiments.push_back({{"id", result.declaration->id},
                           {"title", result.declaration->title},
                           {"tier", lab.stored[i].request.tier},
                           {"planned", result.planned},
                           {"done", result.done},
                           {"crashed", result.crashed},
                           {"cells", cells}});
  }
  return {{"verdicts", verdicts}, {"experiments", experiments}};
}

}  // namespace equinorm::lab
