// `equinorm lab`: experiments that answer claims. Here are its subcommands; the work is in
// lab/evidence.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "command.hpp"
#include "lab/evidence/lab_diff.hpp"
#include "lab/evidence/lab_folder.hpp"
#include "lab/evidence/lab_results.hpp"
#include "lab/evidence/tables.hpp"
#include "lab/experiment/text_table.hpp"
#include "lab/nearest.hpp"
#include "lab/report/lab_report.hpp"
#include "lab_run.hpp"

namespace equinorm::cli {
namespace {

std::string joined_claims(const lab::Declaration& declaration) {
  std::string text;
  std::set<std::string> seen;
  const auto add = [&](const std::string& claim) {
    if (claim.empty() || !seen.insert(claim).second) return;
    text += (text.empty() ? "" : ", ") + claim;
  };
  for (const lab::VerdictRule& rule : declaration.rules) add(rule.claim);
  for (const lab::TableSpec& table : declaration.tables) add(table.claim);
  return text;
}

/// How many runs `lab run` would plan: its own and those that its tables show.
std::size_t count_runs(const lab::Declaration& declaration, const std::string& tier) {
  lab::LabRequest request;
  request.tier = tier;
  std::size_t count = lab::plan_experiment(declaration, request, run_kinds()).size();
  for (const std::string& id : lab::sources_of(declaration)) {
    count += count_runs(lab::find_declaration(id), tier);
  }
  return count;
}

void list_experiments(bool json) {
  nlohmann::json document = nlohmann::json::array();
  lab::TextRow header = {"id"};
  header.insert(header.end(), lab::tier_names().begin(), lab::tier_names().end());
  header.insert(header.end(), {"claims", "title"});
  std::vector<lab::TextRow> rows = {header};
  for (const lab::Declaration& declaration : lab::builtin_declarations()) {
    lab::TextRow row = {declaration.id};
    nlohmann::json counts;
    for (const std::string& tier : lab::tier_names()) {
      counts[tier] = count_runs(declaration, tier);
      row.push_back(counts[tier].dump());
    }
    row.push_back(joined_claims(declaration));
    row.push_back(declaration.title);
    rows.push_back(row);
    document.push_back({{"id", declaration.id},
                        {"title", declaration.title},
                        {"question", declaration.question},
                        {"expected", declaration.expected},
                        {"runs", counts}});
  }
  if (json) {
    fmt::print("{}\n", document.dump(1));
  } else {
    fmt::print("{}", lab::align_left(rows));
  }
}

void add_run(CLI::App& lab, int& exit_code) {
  const auto options = std::make_shared<LabRunOptions>();
  options->jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  CLI::App* sub =
      lab.add_subcommand("run", "Run experiments, judge their claims, write the report");
  sub->add_option("experiments", options->experiments, "ids, .toml or .json files, or all")
      ->required();
  sub->add_option("--tier", options->tier, "how much is spent: smoke, quick, standard, full")
      ->check([](const std::string& tier) {
        const auto& tiers = lab::tier_names();
        const bool known = std::find(tiers.begin(), tiers.end(), tier) != tiers.end();
        return known ? "" : "'" + tier + "': " + lab::one_of("must be one of", tier, tiers);
      })
      ->capture_default_str();
  sub->add_option("--seeds", options->seeds, "number of seeds (default: the tier's)")
      ->check(CLI::Range(1, lab::kMostSeeds));
  sub->add_option("--jobs", options->jobs, "runs side by side, one thread each")
      ->check(CLI::Range(1, 1024));
  sub->add_option("--shard", options->shard, "I/N: only this part of the runs");
  sub->add_option("--out", options->out, "where everything goes; a second start resumes")
      ->capture_default_str();
  sub->add_option("--cache", options->cache, "cache of prepared data");
  sub->add_flag("--tensorboard", options->tensorboard,
                "also event files of all training runs, in OUT/tensorboard");
  sub->add_flag("--weights", options->weights,
                "also weights.safetensors in the directories of runs that are trained now");
  sub->add_flag("--quiet", options->quiet, "no progress on standard error");
  sub->add_flag("--json", options->json, "results as one JSON document");
  sub->footer(
      "Examples:\n"
      "  equinorm lab run E20\n"
      "  equinorm lab run all --tier standard --out out/lab\n"
      "  equinorm lab run my_experiment.toml --seeds 5\n"
      "  equinorm lab run all --shard 2/3\n\n"
      "Ctrl-C stops; the same command resumes. docs/lab.md explains declarations and verdicts.");
  sub->callback([options, &exit_code] { exit_code = lab_run(*options); });
}

void add_report_and_status(CLI::App& lab) {
  const auto out = std::make_shared<std::string>("out/lab");
  const auto json = std::make_shared<bool>(false);
  CLI::App* report = lab.add_subcommand("report", "Judge the claims and write the report anew");
  report->add_option("--out", *out, "folder of the lab")->capture_default_str();
  report->add_flag("--json", *json, "results as one JSON document");
  report->footer("Example:\n  equinorm lab report --out out/lab");
  report->callback([out, json] {
    require_folder("--out", *out);
    const auto results = load_lab_aloud(*out);
    lab::write_lab_report(*out, *results);
    if (*json) {
      fmt::print("{}\n", lab::export_lab(*results).dump(1));
    } else {
      fmt::print("{}\n", (std::filesystem::path(*out) / "report.html").string());
    }
  });
  CLI::App* status = lab.add_subcommand("status", "Runs done, missing and crashed");
  status->add_option("--out", *out, "folder of the lab")->capture_default_str();
  status->add_flag("--json", *json, "as one JSON document");
  status->footer("Example:\n  equinorm lab status --out out/lab");
  status->callback([out, json] {
    require_folder("--out", *out);
    const auto results = load_lab_aloud(*out);
    fmt::print("{}",
               *json ? lab::export_status(*results).dump(1) + "\n" : lab::render_status(*results));
  });
}

void add_diff(CLI::App& lab) {
  const auto folders = std::make_shared<std::vector<std::string>>();
  CLI::App* sub = lab.add_subcommand("diff", "Compare two folders, metric by metric");
  sub->add_option("folders", *folders, "two folders of the lab")->required()->expected(2);
  sub->footer("Example:\n  equinorm lab diff out/before out/after");
  sub->callback([folders] {
    for (const std::string& folder : *folders) require_folder("folders", folder);
    const auto before = load_lab_aloud(folders->at(0));
    const auto after = load_lab_aloud(folders->at(1));
    fmt::print("{}", lab::render_diff(*before, *after));
  });
}

}  // namespace

void add_lab(CLI::App& app, int& exit_code) {
  CLI::App* sub = app.add_subcommand("lab", "Run experiments that answer claims about norms");
  sub->require_subcommand(1);
  sub->footer(
      "Examples:\n"
      "  equinorm lab list\n"
      "  equinorm lab run E20\n"
      "  equinorm lab status\n\n"
      "'equinorm lab COMMAND --help' explains a command.");
  const auto json = std::make_shared<bool>(false);
  CLI::App* list = sub->add_subcommand("list", "Experiments that come with the program");
  list->add_flag("--json", *json, "as one JSON document");
  list->footer("Example:\n  equinorm lab list");
  list->callback([json] { list_experiments(*json); });
  add_run(*sub, exit_code);
  add_report_and_status(*sub);
  add_diff(*sub);
}

}  // namespace equinorm::cli
