// `equinorm compare`: trains each norm at each placement on a task and says what differs. Here is
// the course of a comparison; the work is in lab/experiment.
#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "compare_options.hpp"
#include "environment.hpp"
#include "lab/data/dataset.hpp"
#include "lab/data/files.hpp"
#include "lab/error.hpp"
#include "lab/experiment/interrupt.hpp"
#include "lab/experiment/output_lock.hpp"
#include "lab/experiment/results_export.hpp"
#include "lab/experiment/results_table.hpp"
#include "lab/experiment/runner.hpp"
#include "lab/experiment/tensorboard.hpp"
#include "lab/numerics_sweep/numerics_sweep.hpp"
#include "lab/report/numerics_data.hpp"
#include "lab/report/report.hpp"
#include "lab/run_config_json.hpp"
#include "lab/train.hpp"
#include "process.hpp"
#include "run_one.hpp"

namespace equinorm::cli {
namespace {

// "1 run", "2 runs"
std::string counted(std::size_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

namespace fs = std::filesystem;

struct Request {
  std::map<std::string, std::string> texts;
  bool quiet = false;
  bool json = false;
  bool tensorboard = false;
  bool weights = false;
};

lab::CompareRequest describe_request(const lab::ComparePlan& plan,
                                     const std::vector<lab::RunConfig>& runs) {
  lab::CompareRequest request;
  request.command = command_line();
  for (const lab::RunConfig& task : plan.tasks) request.tasks.push_back(task.task);
  request.arms = plan.arms;
  request.learning_rates = plan.learning_rates;
  request.seeds = plan.seeds;
  request.settings = plan.tasks;
  request.baseline = lab::choose_baseline(plan.arms);
  for (const lab::RunConfig& run : runs) request.run_ids.push_back(lab::run_id(run));
  request.environment = environment();
  return request;
}

/// The numerics panel is the same for a given program, so it is computed once per build.
bool is_current(const fs::path& numerics) {
  std::error_code missing;
  const auto made = fs::last_write_time(numerics, missing);
  if (missing || made <= fs::last_write_time("/proc/self/exe")) return false;
  try {
    static_cast<void>(lab::report::load_numerics(numerics));
    return true;
  } catch (const lab::InputError&) {
    return false;  // damaged: measured anew
  }
}

int report_interruption(const lab::RunnerOutcome& outcome, std::size_t total) {
  fmt::print(stderr, "\nInterrupted: {} of {} runs are done and kept. To resume:\n  {}\n",
             outcome.resumed + outcome.finished, total, command_line());
  return kInterrupted;
}

/// What is made of the runs. It is not worth losing the results over: they are printed all the
/// same.
bool write_results(const lab::Comparison& comparison, const lab::Summary& summary) {
  try {
    const fs::path numerics = comparison.dir / "numerics.json";
    if (!is_current(numerics)) lab::write_numerics(numerics);
    lab::write_atomically(comparison.dir / "results.csv", lab::export_csv(comparison));
    lab::write_report(comparison, summary);
    return true;
  } catch (const lab::InputError& error) {
    fmt::print(stderr, "equinorm compare: no report: {}\n", error.what());
    return false;
  }
}

void print_results(const lab::Comparison& comparison, const lab::Summary& summary, bool json,
                   const std::string& report) {
  if (json) {
    nlohmann::json document = lab::export_summary(comparison, summary);
    document["report"] = report.empty() ? nlohmann::json(nullptr) : nlohmann::json(report);
    fmt::print("{}\n", document.dump(1));
    return;
  }
  fmt::print("{}", lab::render_tables(summary));
  if (!report.empty()) fmt::print("\nReport: {}\n", report);
}

int report_results(const Request& request, const fs::path& out, const lab::RunnerOutcome& outcome) {
  const lab::Comparison comparison = lab::load_comparison(out, outcome.errors);
  const lab::Summary summary = lab::summarize(comparison);
  const bool written = write_results(comparison, summary);
  if (lab::InterruptGuard::requested()) {
    return report_interruption(outcome, comparison.request.run_ids.size());
  }
  const std::string report = fs::absolute(out / "report.html").lexically_normal().string();
  print_results(comparison, summary, request.json, written ? report : "");
  if (comparison.errors.empty()) return written ? kDone : kInput;
  fmt::print(stderr,
             "\n{} of {} runs crashed; the numbers above are without them. Start again to "
             "retry.\n{}",
             comparison.errors.size(), comparison.request.run_ids.size(),
             lab::render_errors(comparison));
  return kFailed;
}

/// Rules between values are the lab's, which knows fields where the user knows options.
void check_settings(const lab::RunConfig& run) {
  try {
    lab::validate(run);
  } catch (const lab::UsageError& error) {
    std::string message = error.what();
    std::replace(message.begin(), message.begin() + message.find(' '), '_', '-');
    throw UsageError("--" + message);
  }
}

using HeldData = std::vector<std::shared_ptr<const lab::Dataset>>;

/// Reads the data of the tasks, to be held for the runs; false when interrupted.
bool resolve_sources(std::vector<lab::RunConfig>& tasks, const fs::path& cache, HeldData& data) {
  try {
    for (lab::RunConfig& task : tasks) {
      if (lab::InterruptGuard::requested()) return false;
      data.push_back(lab::resolve_source(task, cache));
    }
  } catch (const lab::InputError&) {
    // Ctrl-C also ends the programs that the data comes from, which then looks like missing data.
    if (!lab::InterruptGuard::requested()) throw;
  }
  return !lab::InterruptGuard::requested();
}

int run_compare(const Request& request) {
  const lab::InterruptGuard guard;
  CompareOptions options = parse_compare_options(request.texts);
  for (const lab::RunConfig& run : lab::plan_runs(options.plan)) check_settings(run);
  lab::make_directories(options.out / "runs");
  const lab::OutputLock lock(options.out);
  lab::refuse_folder_of("equinorm lab", options.out, "experiments");
  lab::remove_leftovers(options.out);
  HeldData data;
  if (!resolve_sources(options.plan.tasks, options.cache, data)) {
    fmt::print(stderr, "\nInterrupted before training. To start again:\n  {}\n", command_line());
    return kInterrupted;
  }

  const std::vector<lab::RunConfig> runs = lab::plan_runs(options.plan);
  lab::save_request(options.out, describe_request(options.plan, runs));
  lab::ProgressPrinter printer(stderr, lab::ProgressPrinter::choose_mode(stderr, request.quiet));
  lab::RunnerSettings settings;
  settings.out_dir = options.out;
  settings.do_run = [&](const fs::path& run_dir) {
    return run_one(run_dir, {options.cache, request.weights});
  };
  settings.jobs = options.jobs;
  settings.on_progress = [&printer](const lab::Progress& progress) { printer.show(progress); };
  if (!request.quiet) {
    fmt::print(stderr, "{} ({}, {}, {}, {}), {} at a time, in {}\n", counted(runs.size(), "run"),
               counted(options.plan.arms.size(), "arm"), counted(options.plan.tasks.size(), "task"),
               counted(options.plan.learning_rates.size(), "learning rate"),
               counted(options.plan.seeds.size(), "seed"), options.jobs, options.out.string());
  }

  const lab::RunnerOutcome outcome =
      lab::execute_runs(runs, settings, lab::InterruptGuard::count());
  printer.finish();
  if (outcome.interrupted) return report_interruption(outcome, runs.size());
  if (!request.quiet) {
    fmt::print(stderr, "{} done now, {} before, {} crashed\n", counted(outcome.finished, "run"),
               outcome.resumed, outcome.errors.size());
  }
  const int code = report_results(request, options.out, outcome);
  if (request.tensorboard) lab::write_tensorboard(options.out);
  return code;
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
  CLI::App* sub = app.add_subcommand("compare", "Train with each norm and say what differs");
  const auto request = std::make_shared<Request>();
  for (const OptionText& option : compare_option_texts()) {
    const auto store = [request, name = std::string(option.name)](const std::string& text) {
      request->texts[name] = text;
    };
    sub->add_option_function<std::string>(option.name, store, option.help)
        ->type_name(option.value_name)
        ->take_last();
  }
  sub->add_flag("--tensorboard", request->tensorboard,
                "also event files of all runs, in OUT/tensorboard");
  sub->add_flag("--weights", request->weights,
                "also weights.safetensors in the directories of runs that are trained now");
  sub->add_flag("--quiet", request->quiet, "no progress on standard error");
  sub->add_flag("--json", request->json, "results as one JSON document");
  sub->footer(
      "Examples:\n"
      "  equinorm compare\n"
      "  equinorm compare --task fashion-mnist,bible --seeds 5 --lr 3e-4,1e-3,3e-3,1e-2\n"
      "  equinorm compare --text notes.txt --norm layer,rms --placement pre --out out/notes\n"
      "  equinorm compare --norm layer --placement pre,deepnorm,peri,rezero,admin\n\n"
      "Ctrl-C stops; the same command resumes. docs/compare.md explains the results.");
  sub->callback([request, &exit_code] { exit_code = run_compare(*request); });
}

}  // namespace equinorm::cli
