#include "lab/evidence/claims.hpp"

#include <algorithm>
#include <set>

#include "lab/evidence/toml_table.hpp"

namespace equinorm::lab {
namespace {

Claim read_claim(TomlTable& table) {
  Claim claim;
  claim.id = table.text("id");
  claim.says = table.text("says");
  claim.literature = table.text("literature");
  claim.experiments = table.texts("experiments");
  claim.note = table.text_or("note", "");
  claim.not_measurable = table.text_or("not_measurable", "");
  const int answers = static_cast<int>(!claim.experiments.empty()) +
                      static_cast<int>(!claim.note.empty()) +
                      static_cast<int>(!claim.not_measurable.empty());
  if (answers != 1) table.fail_here("needs one of experiments, note and not_measurable");
  table.refuse_unknown();
  return claim;
}

std::vector<ClaimRow> rows_of(const Claim& claim, const std::vector<ExperimentResults>& results) {
  const ClaimRow base{claim.id, claim.says, "", claim.literature, "", {}};
  if (!claim.note.empty()) {
    ClaimRow row = base;
    row.verdict = {Outcome::note, "", 0, claim.note};
    return {row};
  }
  if (!claim.not_measurable.empty()) {
    ClaimRow row = base;
    row.verdict = {Outcome::not_measurable, "", 0, claim.not_measurable};
    return {row};
  }
  std::vector<ClaimRow> rows;
  std::set<std::string> judged;
  for (const ExperimentResults& result : results) {
    for (const VerdictRule& rule : result.declaration->rules) {
      if (rule.claim != claim.id) continue;
      ClaimRow row = base;
      row.tested = rule.says;
      row.experiment = result.declaration->id;
      row.verdict = judge(rule, result);
      rows.push_back(row);
      judged.insert(row.experiment);
    }
  }
  for (const std::string& id : claim.experiments) {
    if (judged.count(id) > 0) continue;
    ClaimRow row = base;
    row.experiment = id;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

ClaimList parse_claims(const std::string& text, const std::string& file) {
  const toml::table parsed = parse_toml(text, file);
  TomlTable root(parsed, file, "");
  ClaimList list;
  std::set<std::string> seen;
  for (TomlTable& table : root.tables("claim")) {
    list.claims.push_back(read_claim(table));
    if (!seen.insert(list.claims.back().id).second) table.fail("id", "is there twice");
  }
  for (TomlTable& table : root.tables("contradiction")) {
    list.contradictions.push_back({table.texts("claims"), table.text("text")});
    for (const std::string& id : list.contradictions.back().claims) {
      if (seen.count(id) == 0) table.fail("claims", "'" + id + "' is no claim of this file");
    }
    table.refuse_unknown();
  }
  root.refuse_unknown();
  return list;
}

std::vector<ClaimRow> judge_claims(const ClaimList& list,
                                   const std::vector<ExperimentResults>& results) {
  std::vector<ClaimRow> rows;
  std::set<std::string> known;
  for (const Claim& claim : list.claims) {
    known.insert(claim.id);
    const std::vector<ClaimRow> more = rows_of(claim, results);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  for (const ExperimentResults& result : results) {
    for (const VerdictRule& rule : result.declaration->rules) {
      if (known.count(rule.claim) > 0) continue;
      rows.push_back({rule.claim, "", rule.says, "", result.declaration->id, judge(rule, result)});
    }
  }
  return rows;
}

}  // namespace equinorm::lab
