#include "lab_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <set>

#include "command.hpp"
#include "environment.hpp"
#include "lab/data/dataset.hpp"
#include "lab/data/files.hpp"
#include "lab/error.hpp"
#include "lab/evidence/lab_folder.hpp"
#include "lab/evidence/lab_results.hpp"
#include "lab/evidence/record.hpp"
#include "lab/experiment/interrupt.hpp"
#include "lab/experiment/output_lock.hpp"
#include "lab/experiment/results_table.hpp"
#include "lab/experiment/runner.hpp"
#include "lab/experiment/tensorboard.hpp"
#include "lab/measurements/measurements.hpp"
#include "lab/report/lab_report.hpp"
#include "lab/train.hpp"
#include "process.hpp"

namespace equinorm::cli {
namespace {

namespace fs = std::filesystem;

/// "2/3" -> {2, 3}.
std::optional<lab::Shard> parse_shard(const std::optional<std::string>& given) {
  if (!given) return std::nullopt;
  const std::string& text = *given;
  lab::Shard shard;
  const char* end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  const bool slash = index.ec == std::errc() && index.ptr != end && *index.ptr == '/';
  const auto count = slash ? std::from_chars(index.ptr + 1, end, shard.count) : index;
  if (!slash || count.ec != std::errc() || count.ptr != end || shard.index < 1 ||
      shard.count < shard.index || shard.count > 10000) {
    throw UsageError("--shard = '" + text + "': must be like 1/4, from 1/N to N/N");
  }
  return shard;
}

std::vector<lab::Declaration> chosen_declarations(const std::vector<std::string>& names) {
  std::vector<lab::Declaration> chosen;
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name == "all") {
      for (lab::Declaration& declaration : lab::builtin_declarations()) {
        if (seen.insert(declaration.id).second) chosen.push_back(std::move(declaration));
      }
      continue;
    }
    lab::Declaration declaration = lab::find_declaration(name);
    if (!seen.insert(declaration.id).second) {
      throw UsageError("experiment '" + declaration.id + "' is asked for twice");
    }
    chosen.push_back(std::move(declaration));
  }
  return chosen;
}

class LabRun {
 public:
  explicit LabRun(const LabRunOptions& options)
      : options_(options),
        shard_(parse_shard(options.shard)),
        kinds_(run_kinds()),
        printer_(stderr, lab::ProgressPrinter::choose_mode(stderr, options.quiet)) {
    require_folder("--out", options.out);
    for (lab::Declaration& declaration : chosen_declarations(options.experiments)) {
      lab::LabRequest request;
      request.tier = options.tier;
      request.seeds = options.seeds;
      // Before anything is written: a wrong field must not leave a folder behind.
      static_cast<void>(lab::plan_experiment(declaration, request, kinds_));
      experiments_.push_back({std::move(declaration), request});
    }
  }

  int run() {
    lab::make_directories(fs::path(options_.out) / "runs");
    const std::unique_ptr<lab::OutputLock> lock =
        shard_ ? std::make_unique<lab::OutputLock>(options_.out, *shard_)
               : std::make_unique<lab::OutputLock>(options_.out);
    lab::remove_leftovers(options_.out);
    if (!resolve_sources()) return report_interruption();
    check_other_experiments();
    for (const lab::StoredExperiment& experiment : experiments_) {
      lab::store_experiment(options_.out, experiment);
    }
    lab::store_environment(options_.out, environment());
    if (!execute(planned_jobs()) || !execute(longer_jobs())) return report_interruption();
    printer_.finish();
    const int code = report();
    if (options_.tensorboard) lab::write_tensorboard(options_.out);
    return code;
  }

 private:
  bool resolve_sources() {
    std::map<std::string, std::string> known;
    try {
      for (lab::StoredExperiment& experiment : experiments_) {
        for (lab::RunConfig task :
             lab::tasks_of(experiment.declaration, experiment.request, kinds_)) {
          if (lab::InterruptGuard::requested()) return false;
          const std::string key = lab::source_key(task);
          if (known.count(key) == 0) {
            lab::resolve_source(task, options_.cache);
            known[key] = task.source_sha256;
          }
          experiment.request.source_sha256[key] = known[key];
        }
      }
    } catch (const lab::InputError&) {
      // Ctrl-C also ends the programs that the data comes from, which then looks like missing data.
      if (!lab::InterruptGuard::requested()) throw;
    }
    return !lab::InterruptGuard::requested();
  }

  /// What else lies in the folder must be readable: the report at the end is about all of it.
  void check_other_experiments() const {
    std::set<std::string> ids;
    std::set<std::string> jobs;
    for (const lab::StoredExperiment& experiment : experiments_) {
      ids.insert(experiment.declaration.id);
      for (const lab::PlannedRun& run :
           lab::plan_experiment(experiment.declaration, experiment.request, kinds_)) {
        jobs.insert(run.job.id);
      }
    }
    lab::check_stored(options_.out, kinds_, ids, jobs);
  }

  void add_jobs(const std::vector<lab::PlannedRun>& runs, std::set<std::string>& seen,
                std::vector<lab::Job>& jobs) const {
    for (const lab::PlannedRun& run : runs) {
      const bool ours = !shard_ || lab::is_in_shard(run.job.id, shard_->index, shard_->count);
      if (ours && seen.insert(run.job.id).second) jobs.push_back(run.job);
    }
  }

  [[nodiscard]] std::vector<lab::Job> planned_jobs() const {
    std::vector<lab::Job> jobs;
    std::set<std::string> seen;
    for (const lab::StoredExperiment& experiment : experiments_) {
      add_jobs(lab::plan_experiment(experiment.declaration, experiment.request, kinds_), seen,
               jobs);
    }
    return jobs;
  }

  [[nodiscard]] std::vector<lab::Job> longer_jobs() const {
    lab::RecordStore store(options_.out);
    std::vector<lab::Job> jobs;
    std::set<std::string> seen;
    for (const lab::StoredExperiment& experiment : experiments_) {
      if (!experiment.declaration.tiers.at(options_.tier).rerun_stalls) continue;
      const auto plan = lab::plan_experiment(experiment.declaration, experiment.request, kinds_);
      add_jobs(lab::plan_longer_runs(plan, store), seen, jobs);
    }
    return jobs;
  }

  /// False when interrupted.
  bool execute(const std::vector<lab::Job>& jobs) {
    if (jobs.empty()) return true;
    lab::RunnerSettings settings;
    settings.out_dir = options_.out;
    settings.child_command = child_command(options_.cache);
    settings.jobs = options_.jobs;
    settings.on_progress = [this](const lab::Progress& progress) { printer_.show(progress); };
    if (!options_.quiet) {
      fmt::print(stderr, "{} runs, {} at a time, in {}\n", jobs.size(), options_.jobs,
                 options_.out);
    }
    const lab::JobsOutcome outcome =
        lab::execute_jobs(jobs, settings, lab::is_finished_job, lab::InterruptGuard::count());
    crashes_.insert(crashes_.end(), outcome.crashes.begin(), outcome.crashes.end());
    return !outcome.interrupted;
  }

  int report_interruption() {
    printer_.finish();
    fmt::print(stderr, "\nInterrupted; finished runs are kept. To resume:\n  {}\n", command_line());
    return kInterrupted;
  }

  int report() {
    const auto results = lab::load_lab(options_.out, kinds_);
    if (shard_) {
      if (!options_.quiet) {
        fmt::print(stderr,
                   "Shard {} is done. With all shards in one folder:\n"
                   "  equinorm lab report --out {}\n",
                   *options_.shard, options_.out);
      }
    } else {
      lab::write_lab_report(options_.out, *results);
    }
    if (options_.json) {
      fmt::print("{}\n", lab::export_lab(*results).dump(1));
    } else {
      fmt::print("{}", lab::render_verdicts(*results, false));
      if (!shard_) {
        fmt::print(
            "\nReport: {}\n",
            fs::absolute(fs::path(options_.out) / "report.html").lexically_normal().string());
      }
    }
    if (crashes_.empty()) return kDone;
    fmt::print(stderr, "\n{} runs crashed; start again to retry.\n{}", crashes_.size(),
               lab::render_crashes(crashes_));
    return kFailed;
  }

  const LabRunOptions& options_;
  std::optional<lab::Shard> shard_;
  lab::RunKinds kinds_;
  lab::ProgressPrinter printer_;
  std::vector<lab::StoredExperiment> experiments_;
  std::vector<lab::Crash> crashes_;
};

}  // namespace

lab::RunKinds run_kinds() { return {lab::validate, lab::measurements()}; }

void require_folder(const std::string& option, const std::string& path) {
  if (path.empty()) throw UsageError(option + " = '': must name a folder");
}

int lab_run(const LabRunOptions& options) {
  LabRun run(options);
  const lab::InterruptGuard guard;
  return run.run();
}

}  // namespace equinorm::cli
