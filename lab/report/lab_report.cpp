#include "lab/report/lab_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lab/data/files.hpp"
#include "lab/evidence/tables.hpp"
#include "lab/report/csv.hpp"
#include "lab/report/page_data.hpp"
#include "lab/report/template.hpp"
#include "lab/report/wording.hpp"

namespace equinorm::lab {
namespace {

using namespace report;
using kainjow::mustache::data;

constexpr std::size_t kLongTable = 24;  // rows; longer ones are folded

std::string css_class(Outcome outcome) {
  switch (outcome) {
    case Outcome::reproduced:
    case Outcome::by_construction:
      return "yes";
    case Outcome::opposite:
      return "no";
    case Outcome::not_found:
      return "open";
    default:
      return "none";
  }
}

std::string or_dash(const std::string& text) { return text.empty() ? kDash : text; }

/// What the rows of claims link to.
struct Links {
  std::set<std::string> experiments;
  std::map<std::string, std::vector<DeclaredTable>> tables;  ///< by experiment
};

data table_links(const std::string& claim, const Links& links) {
  data list{data::type::list};
  for (const auto& [experiment, tables] : links.tables) {
    for (const DeclaredTable& table : tables) {
      if (table.claim != claim) continue;
      data item;
      item.set("id", table.id);
      item.set("title", table.table.caption);
      list.push_back(item);
    }
  }
  return list;
}

data row_data(const ClaimRow& row, bool first, const Links& links) {
  const Verdict& verdict = row.verdict;
  data item;
  item.set("id", row.claim);
  item.set("first", first ? data::type::bool_true : data::type::bool_false);
  item.set("says", row.says);
  item.set("literature", or_dash(row.literature));
  item.set("tested", row.tested);
  item.set("has_tested", !row.tested.empty());
  item.set("number", typeset(or_dash(verdict.number)));
  item.set("n", verdict.n > 0 ? std::to_string(verdict.n) : kDash);
  item.set("verdict", name_of(verdict.outcome));
  item.set("class", css_class(verdict.outcome));
  item.set("detail", typeset(verdict.detail));
  item.set("has_detail", !verdict.detail.empty());
  item.set("experiment", row.experiment);
  item.set("tables", first ? table_links(row.claim, links) : data{data::type::list});
  const bool linked = links.experiments.count(row.experiment) > 0;
  item.set("linked", linked);
  item.set("unlinked", !linked);
  return item;
}

std::string count_text(const LabResults& lab) {
  std::map<std::string, int> counts;
  std::set<std::string> claims;
  for (const ClaimRow& row : lab.rows) {
    ++counts[name_of(row.verdict.outcome)];
    claims.insert(row.claim);
  }
  std::string text;
  for (const Outcome outcome :
       {Outcome::reproduced, Outcome::opposite, Outcome::not_found, Outcome::by_construction,
        Outcome::not_measurable, Outcome::note, Outcome::not_run}) {
    const auto found = counts.find(name_of(outcome));
    if (found == counts.end()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", found->second, found->first);
  }
  const std::string note = smoke_note(lab);
  return fmt::format("{} claims, {} answers: {}.{}{}", claims.size(), lab.rows.size(), text,
                     note.empty() ? "" : " ", note);
}

std::string command_of(const StoredExperiment& experiment) {
  const Declaration& declaration = experiment.declaration;
  // Of the user's own there is the copy in this folder.
  const std::string name =
      is_builtin(declaration.id) ? declaration.id : "experiments/" + declaration.id + ".toml";
  std::string command = "equinorm lab run " + name + " --tier " + experiment.request.tier;
  if (experiment.request.seeds) {
    command += fmt::format(" --seeds {}", *experiment.request.seeds);
  }
  return command;
}

std::string state_of(const StoredExperiment& stored, const ExperimentResults& results) {
  if (results.declaration->arms.empty()) {
    return fmt::format("No runs of its own: its tables show those of {}.",
                       fmt::join(sources_of(*results.declaration), ", "));
  }
  std::string state = fmt::format("Tier {}; {} of {} runs are finished", stored.request.tier,
                                  results.done, results.planned);
  if (results.crashed > 0) state += fmt::format(", {} crashed", results.crashed);
  return state + ".";
}

data tables_data(const std::vector<DeclaredTable>& tables) {
  data list{data::type::list};
  for (const DeclaredTable& shown : tables) {
    data item;
    item.set("id", shown.id);
    item.set("content", to_data(shown.table));
    item.set("filled", !shown.table.rows.empty());
    item.set("csv", data_uri(shown.csv));
    list.push_back(item);
  }
  return list;
}

data contradiction_data(const Contradiction& contradiction) {
  data item;
  item.set("claims", fmt::format("{}", fmt::join(contradiction.claims, ", ")));
  item.set("text", contradiction.text);
  return item;
}

/// Those about a claim that the experiment is for.
data contradictions_about(const std::string& experiment, const ClaimList& list) {
  const auto is_for = [&](const std::string& id) {
    return std::any_of(list.claims.begin(), list.claims.end(), [&](const Claim& claim) {
      const auto& ids = claim.experiments;
      return claim.id == id && std::find(ids.begin(), ids.end(), experiment) != ids.end();
    });
  };
  data all{data::type::list};
  for (const Contradiction& contradiction : list.contradictions) {
    if (std::any_of(contradiction.claims.begin(), contradiction.claims.end(), is_for)) {
      all.push_back(contradiction_data(contradiction));
    }
  }
  return all;
}

std::string damage_text(const LabResults& lab) {
  std::vector<std::string> runs;
  for (const auto& [run, complaint] : lab.store->damaged()) runs.push_back(run);
  return runs.empty()
             ? ""
             : fmt::format("Damaged runs, which count as missing: {}.", fmt::join(runs, ", "));
}

/// Figures without a single point are not drawn.
std::string missing_figures(const Declaration& declaration, const std::vector<Figure>& drawn) {
  std::string text;
  for (const FigureSpec& spec : declaration.figures) {
    const bool there = std::any_of(drawn.begin(), drawn.end(), [&](const Figure& figure) {
      return figure.title == spec.title;
    });
    if (!there) text += fmt::format(" No run has a point of the figure \"{}\".", spec.title);
  }
  return text;
}

data experiment_data(const StoredExperiment& stored, const ExperimentResults& results,
                     const std::vector<DeclaredTable>& tables) {
  const Declaration& declaration = *results.declaration;
  data item;
  item.set("id", declaration.id);
  item.set("title", declaration.title);
  item.set("question", declaration.question);
  item.set("expected", declaration.expected);
  item.set("has_expected", !declaration.expected.empty());
  std::vector<Figure> drawn = lab_figures(results);
  item.set("state", state_of(stored, results) + missing_figures(declaration, drawn));
  item.set("tables", tables_data(tables));
  item.set("has_runs", !declaration.arms.empty());
  item.set("command", command_of(stored));
  data figures{data::type::list};
  for (Figure& figure : drawn) {
    figure.command = command_of(stored);
    figures.push_back(to_data(figure));
  }
  item.set("figures", figures);
  const Table table = cells_table(results);
  item.set("folded", table.rows.size() > kLongTable);
  item.set("open", table.rows.size() <= kLongTable);
  item.set("rows", std::to_string(table.rows.size()));
  item.set("cells", to_data(table));
  item.set("csv", data_uri(runs_csv(results)));
  return item;
}

Table environments_table(const LabResults& lab) {
  Table table{.caption = "Environment", .note = {}, .header = {"What"}, .rows = {}};
  std::set<std::string> keys;
  for (const auto& environment : lab.environments.all) {
    table.header.push_back(lab.environments.all.size() == 1
                               ? "Value"
                               : fmt::format("Machine {}", table.header.size()));
    for (const auto& [key, value] : environment) keys.insert(key);
  }
  for (const std::string& key : keys) {
    std::vector<std::string> row = {key};
    for (const auto& environment : lab.environments.all) {
      const auto found = environment.find(key);
      row.push_back(found == environment.end() ? kDash : found->second);
    }
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace

std::string render_lab_report(const LabResults& lab) {
  Links links;
  for (const StoredExperiment& experiment : lab.stored) {
    const Declaration& declaration = experiment.declaration;
    links.experiments.insert(declaration.id);
    links.tables[declaration.id] = declared_tables(declaration, lab.results);
  }
  data page;
  page.set("counts", count_text(lab));
  page.set("damage", damage_text(lab));
  page.set("has_damage", !lab.store->damaged().empty());
  data rows{data::type::list};
  std::string previous;
  for (const ClaimRow& row : lab.rows) {
    rows.push_back(row_data(row, row.claim != previous, links));
    previous = row.claim;
  }
  page.set("rows", rows);
  data contradictions{data::type::list};
  for (const Contradiction& contradiction : lab.claims.contradictions) {
    contradictions.push_back(contradiction_data(contradiction));
  }
  page.set("contradictions", contradictions);
  data experiments{data::type::list};
  for (std::size_t i = 0; i < lab.results.size(); ++i) {
    data item = experiment_data(lab.stored[i], lab.results[i],
                                links.tables.at(lab.stored[i].declaration.id));
    item.set("contradictions", contradictions_about(lab.stored[i].declaration.id, lab.claims));
    experiments.push_back(item);
  }
  page.set("experiments", experiments);
  page.set("environment", to_data(environments_table(lab)));
  return render_page(lab_page_template(), page);
}

void write_lab_report(const std::filesystem::path& out_dir, const LabResults& lab) {
  write_atomically(out_dir / "report.html", render_lab_report(lab));
}

}  // namespace equinorm::lab
