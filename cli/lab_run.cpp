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
#include "lab/evidence/tables.hpp"
#include "lab/experiment/interrupt.hpp"
#include "lab/experiment/output_lock.hpp"
#include "lab/experiment/results_table.hpp"
#include "lab/experiment/runner.hpp"
#include "lab/experiment/tensorboard.hpp"
#include "lab/measurements/measurements.hpp"
#include "lab/report/lab_report.hpp"
#include "lab/train.hpp"
#include "process.hpp"
#include "run_one.hpp"

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
    lab::refuse_changed_builtin(declaration);
    chosen.push_back(std::move(declaration));
  }
  return chosen;
}

/// Experiments whose runs the tables of others show, if the program has them and they are not
/// there.
void add_sources(std::vector<lab::Declaration>& chosen) {
  std::set<std::string> wanted;
  for (const lab::Declaration& declaration : chosen) {
    for (const std::string& id : lab::sources_of(declaration)) wanted.insert(id);
  }
  for (const lab::Declaration& declaration : chosen) wanted.erase(declaration.id);
  for (lab::Declaration& declaration : lab::builtin_declarations()) {
    if (wanted.count(declaration.id) > 0) chosen.push_back(std::move(declaration));
  }
}

class LabRun {
 public:
  explicit LabRun(const LabRunOptions& options)
      : options_(options),
        shard_(parse_shard(options.shard)),
        kinds_(run_kinds()),
        printer_(stderr, lab::ProgressPrinter::choose_mode(stderr, options.quiet)) {
    require_folder("--out", options.out);
    std::vector<lab::Declaration> chosen = chosen_declarations(options.experiments);
    add_sources(chosen);
    check_all_tables(chosen);
    for (lab::Declaration& declaration : chosen) {
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
    lab::refuse_folder_of("equinorm compare", options_.out, "compare.json");
    lab::remove_leftovers(options_.out);
    if (!resolve_sources()) return report_interruption();
    check_other_experiments();
    for (const lab::StoredExperiment& experiment : experiments_) {
      lab::store_experiment(options_.out, experiment);
    }
    lab::store_environment(options_.out, environment());
    if (!execute(planned_jobs(), "runs") ||
        !execute(longer_jobs(), "runs that stalled, again with longer training")) {
      return report_interruption();
    }
    const int code = report();
    if (options_.tensorboard) lab::write_tensorboard(options_.out);
    return code;
  }

 private:
  void check_all_tables(const std::vector<lab::Declaration>& chosen) const {
    std::vector<const lab::Declaration*> known;
    for (const lab::Declaration& declaration : chosen) known.push_back(&declaration);
    for (const lab::Declaration& declaration : chosen) {
      lab::check_tables(declaration, known, kinds_);
    }
  }

  bool resolve_sources() {
    std::map<std::pair<std::string, std::string>, std::string> known;  // by task and path
    try {
      for (lab::StoredExperiment& experiment : experiments_) {
        for (auto& [key, task] :
             lab::tasks_of(experiment.declaration, experiment.request, kinds_)) {
          if (lab::InterruptGuard::requested()) return false;
          const auto [sha, is_new] = known.try_emplace({task.task, task.source});
          if (is_new) {
            data_.push_back(lab::resolve_source(task, options_.cache));
            sha->second = task.source_sha256;
          }
          experiment.request.source_sha256[key] = sha->second;
        }
      }
    } catch (const lab::InputError&) {
      // Ctrl-C also ends the programs that the data comes from, which then looks like missing data.
      if (!lab::InterruptGuard::requested()) throw;
    }
    return !lab::InterruptGuard::requested();
  }

  /// What else was asked for must be readable: the report at the end is about all of it.
  void check_other_experiments() const {
    std::set<std::string> ids;
    for (const lab::StoredExperiment& experiment : experiments_) {
      ids.insert(experiment.declaration.id);
    }
    lab::check_stored(options_.out, kinds_, ids);
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
  bool execute(const std::vector<lab::Job>& jobs, const char* what) {
    if (jobs.empty()) return true;
    lab::RunnerSettings settings;
    settings.out_dir = options_.out;
    settings.do_run = [this](const fs::path& run_dir) {
      return run_one(run_dir, {options_.cache, options_.weights});
    };
    settings.jobs = options_.jobs;
    settings.on_progress = [this](const lab::Progress& progress) { printer_.show(progress); };
    if (!options_.quiet) {
      fmt::print(stderr, "{} {}, {} at a time, in {}\n", jobs.size(), what, options_.jobs,
                 options_.out);
    }
    const lab::JobsOutcome outcome =
        lab::execute_jobs(jobs, settings, lab::is_finished_job, lab::InterruptGuard::count());
    printer_.finish();
    crashes_.insert(crashes_.end(), outcome.crashes.begin(), outcome.crashes.end());
    return !outcome.interrupted;
  }

  [[nodiscard]] int report_interruption() const {
    fmt::print(stderr, "\nInterrupted; finished runs are kept. To resume:\n  {}\n", command_line());
    return kInterrupted;
  }

  int report() {
    const auto results = load_lab_aloud(options_.out);
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
      if (shard_) fmt::print("So far, with {}:\n\n", lab::count_runs(*results));
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
  std::vector<std::shared_ptr<const lab::Dataset>> data_;  // held for the runs
  std::vector<lab::Crash> crashes_;
};

}  // namespace

std::unique_ptr<lab::LabResults> load_lab_aloud(const std::string& folder) {
  auto results = lab::load_lab(folder, run_kinds());
  fmt::print(stderr, "{}", lab::render_damage(*results));
  return results;
}

lab::RunKinds run_kinds() {
  const auto check = [](const lab::RunConfig& config) {
    lab::validate(config);
    lab::check_source(config);
  };
  return {check, lab::measurements()};
}

void require_folder(const std::string& option, const std::string& path) {
  if (path.empty()) throw UsageError(option + " = '': must name a folder");
  std::error_code ignored;
  if (fs::exists(path, ignored) && !fs::is_directory(path, ignored)) {
    throw InputError(option + " = '" + path + "': is a file, must be a folder");
  }
}

int lab_run(const LabRunOptions& options) {
  const lab::InterruptGuard guard;
  return LabRun(options).run();
}

}  // namespace equinorm::cli
