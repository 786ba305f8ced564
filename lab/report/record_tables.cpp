// Tables for the record: failures, data, environment, runs.
#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <utility>

#include "lab/data/catalogue.hpp"
#include "lab/report/table.hpp"
#include "lab/report/wording.hpp"

namespace equinorm::lab::report {
namespace {

struct Source {
  std::string origin;
  std::string licence;
};

Source source_of_task(const std::string& task) {
  for (const CatalogueEntry& entry : catalogue()) {
    if (entry.name != task) continue;
    std::string packages;
    for (const std::string& package : entry.packages) packages += " " + package;
    return {fmt::format("{}; Debian:{}", entry.title, packages), entry.licence};
  }
  return {task == "idx" ? "images given with --idx" : "text given with --text",
          "the user\u2019s own"};
}

std::string checksum_of(const TaskSummary& task) {
  for (const ArmSummary& arm : task.arms) {
    for (const RateSummary& rate : arm.rates) {
      if (!rate.runs.empty()) return rate.runs[0]->config.source_sha256;
    }
  }
  return "";
}

std::string crash_text(const RunError& error) {
  if (error.signal) return fmt::format("crashed: signal {}", *error.signal);
  if (error.exit_code) return fmt::format("crashed: exit {}", *error.exit_code);
  return "crashed";
}

std::string value_or_dash(std::string text) { return text.empty() ? kDash : text; }

}  // namespace

Table failure_table(const TaskSummary& task) {
  Table table{.caption = "Failed runs, all learning rates",
              .note =
                  "Non-finite: a loss or gradient was NaN or infinite. Stall: the run ended no "
                  "better than always answering with the frequencies, within these steps; more "
                  "steps may cure it. Blow-up: it ended above twice its initial loss. Crashed "
                  "processes are no evidence about the model and not part of the rate.",
              .header = {"Norm", "Runs", "Non-finite", "Stall", "Blow-up", "Crashed",
                         "Rate, 95 % Wilson interval"},
              .rows = {}};
  for (const ArmSummary& arm : task.arms) {
    const FailureCounts& failures = arm.failures_all_rates;
    const Proportion& rate = failures.rate;
    const double share = rate.n == 0 ? 0 : 100.0 * rate.hits / rate.n;
    table.rows.push_back(
        {label_of(arm.arm), std::to_string(rate.n), std::to_string(failures.non_finite),
         std::to_string(failures.stall), std::to_string(failures.blow_up),
         std::to_string(failures.errors),
         fmt::format("{:.0f} % [{:.0f}, {:.0f}]", share, 100 * rate.low, 100 * rate.high)});
  }
  return table;
}

Table data_table(const Summary& summary) {
  Table table{.caption = "Data",
              .note = {},
              .header = {"Task", "Source", "Licence", "SHA-256 of what was read"},
              .rows = {}};
  for (const TaskSummary& task : summary.tasks) {
    const Source source = source_of_task(task.task);
    table.rows.push_back(
        {label_of_task(task), source.origin, source.licence, value_or_dash(checksum_of(task))});
  }
  return table;
}

Table settings_table(const Comparison& comparison, const Summary& summary) {
  Table table{.caption = "Model and training", .note = {}, .header = {"Setting"}, .rows = {}};
  using Show = std::string (*)(const RunConfig&);
  const std::pair<const char*, Show> settings[] = {
      {"Layers", [](const RunConfig& c) { return fmt::format("{}", c.depth); }},
      {"Width", [](const RunConfig& c) { return fmt::format("{}", c.width); }},
      {"Attention heads", [](const RunConfig& c) { return fmt::format("{}", c.heads); }},
      {"Norm of queries and keys", [](const RunConfig& c) { return c.qk_norm; }},
      {"Feed-forward width", [](const RunConfig& c) { return fmt::format("{}", c.ffn); }},
      {"Dropout", [](const RunConfig& c) { return fmt::format("{:g}", c.dropout); }},
      {"Batch", [](const RunConfig& c) { return fmt::format("{}", c.batch); }},
      {"Steps", [](const RunConfig& c) { return fmt::format("{}", c.steps); }},
      {"Warm-up steps", [](const RunConfig& c) { return fmt::format("{}", c.warmup); }},
      {"Gradient clipping",
       [](const RunConfig& c) { return c.clip > 0 ? fmt::format("{:g}", c.clip) : "off"; }},
      {"Steps between evaluations",
       [](const RunConfig& c) { return fmt::format("{}", c.eval_every); }},
  };
  for (const auto& [name, show] : settings) table.rows.push_back({name});
  for (const RunConfig& config : comparison.request.settings) {
    std::string title = config.task;
    for (const TaskSummary& task : summary.tasks) {
      if (task.task == config.task) title = label_of_task(task);
    }
    table.header.push_back(title);
    for (std::size_t i = 0; i < std::size(settings); ++i) {
      table.rows[i].push_back(settings[i].second(config));
    }
  }
  return table;
}

Table environment_table(const CompareRequest& request) {
  Table table{.caption = "Environment", .note = {}, .header = {"What", "Value"}, .rows = {}};
  for (const auto& [key, value] : request.environment) table.rows.push_back({key, value});
  return table;
}

Table run_table(const Comparison& comparison) {
  Table table{.caption = "Runs",
              .note = "Directories are under runs/ beside this file.",
              .header = {"Directory", "Task", "Norm", "Rate", "Seed", "Final loss",
                         "Final accuracy", "Outcome"},
              .rows = {}};
  const auto start = [](const std::string& id, const RunConfig& config) {
    return std::vector<std::string>{
        id, config.task, short_label_of({config.norm, config.placement}),
        fmt::format("{:g}", config.learning_rate), std::to_string(config.seed)};
  };
  for (const Run& run : comparison.runs) {
    std::vector<std::string> row = start(run.id, run.config);
    const auto accuracy = run.result.final_accuracy;
    row.push_back(number_text(run.result.final_loss, 4));
    row.push_back(accuracy ? fmt::format("{:.2f} %", 100 * *accuracy) : kDash);
    row.push_back(run.result.failure.empty() ? "trained" : run.result.failure);
    table.rows.push_back(row);
  }
  for (const RunError& error : comparison.errors) {
    std::vector<std::string> row = start(error.id, error.config);
    row.insert(row.end(), {kDash, kDash, crash_text(error)});
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace equinorm::lab::report
