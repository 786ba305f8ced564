#include "lab/experiment/runner.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <deque>
#include <list>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "lab/data/files.hpp"
#include "lab/error.hpp"
#include "lab/experiment/child_process.hpp"
#include "lab/run_config_json.hpp"

namespace equinorm::lab {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kPollMilliseconds = 100;
constexpr int kExitPollMilliseconds = 2;  ///< for a child that has closed its output
constexpr std::size_t kStderrTail = 4000;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void remove_directory(const fs::path& dir) {
  std::error_code error;
  fs::remove_all(dir, error);
  if (error) throw InputError(dir.string() + ": cannot be removed: " + error.message());
}

/// A run with its child.
struct ActiveChild {
  ActiveRun run;
  fs::path dir;
  ChildProcess process;
  Clock::time_point start;
};

class Execution {
 public:
  Execution(const std::vector<Job>& jobs, const RunnerSettings& settings,
            const IsFinished& is_finished, const std::atomic<int>& interrupts)
      : settings_(settings), is_finished_(is_finished), interrupts_(interrupts) {
    progress_.total = static_cast<int>(jobs.size());
    for (const Job& job : jobs) {
      if (is_finished_(job, directory(job))) {
        ++outcome_.resumed;
      } else {
        waiting_.push_back(job);
      }
    }
  }

  JobsOutcome run() {
    while (true) {
      pass_on_interrupts();
      if (signals_sent_ == 0) fill_slots();
      report();
      if (children_.empty()) break;
      wait_for_news();
      read_news();
      collect_ended();
    }
    outcome_.interrupted = signals_sent_ > 0;
    return outcome_;
  }

 private:
  void pass_on_interrupts() {
    const int wanted = std::min(interrupts_.load(), 2);
    if (wanted == signals_sent_) return;
    signals_sent_ = wanted;
    for (const ActiveChild& child : children_) child.process.send(wanted == 1 ? SIGTERM : SIGKILL);
  }

  void fill_slots() {
    while (!waiting_.empty() && static_cast<int>(children_.size()) < settings_.jobs) {
      const Job job = waiting_.front();
      waiting_.pop_front();
      start(job);
    }
  }

  [[nodiscard]] fs::path directory(const Job& job) const {
    return settings_.out_dir / "runs" / job.id;
  }

  void start(const Job& job) {
    const fs::path dir = directory(job);
    ActiveRun run;
    run.job = job;
    try {
      remove_directory(dir);
      make_directories(dir);
      write_atomically(dir / "config.json", job.config);
      const auto work = [this, &dir] { return settings_.do_run(dir); };
      children_.push_back({run, dir, ChildProcess(work), Clock::now()});
    } catch (const InputError& error) {
      add_crash({job.id, {}, {}, error.what()}, dir);
    }
  }

  void wait_for_news() {
    std::vector<pollfd> outputs;
    for (const ActiveChild& child : children_) {
      if (!child.process.output_closed()) outputs.push_back({child.process.output(), POLLIN, 0});
    }
    const bool one_is_ending = outputs.size() < children_.size();
    ::poll(outputs.data(), outputs.size(),
           one_is_ending ? kExitPollMilliseconds : kPollMilliseconds);
  }

  void read_news() {
    for (ActiveChild& child : children_) {
      child.run.seconds = seconds_since(child.start);
      const auto line = child.process.read_last_line();
      int step = 0;
      double loss = 0;
      if (line && std::sscanf(line->c_str(), "%d %lf", &step, &loss) == 2) {
        child.run.step = step;
        child.run.loss = loss;
      }
    }
  }

  void collect_ended() {
    for (auto child = children_.begin(); child != children_.end();) {
      const auto ended = child->process.poll_exit();
      if (ended) {
        settle(*child, *ended);
        child = children_.erase(child);
      } else {
        ++child;
      }
    }
  }

  void settle(const ActiveChild& child, const ChildExit& ended) {
    // A result is written last and whole: a child that our signal met after that is finished.
    const bool ended_well = ended.exit_code == 0 || signals_sent_ > 0;
    const Job& job = child.run.job;
    if (ended_well && is_finished_(job, child.dir)) {
      ++outcome_.finished;
      eta_.add_finished(job.group, seconds_since(child.start));
    } else if (signals_sent_ > 0) {
      remove_directory(child.dir);
    } else {
      std::string text = child.process.last_errors(kStderrTail);
      if (ended.exit_code == 0) text += "exited with 0 without a complete result\n";
      add_crash({job.id, ended.exit_code, ended.signal, text}, child.dir);
    }
  }

  void add_crash(const Crash& crash, const fs::path& dir) {
    outcome_.crashes.push_back(crash);
    std::error_code ignored;
    fs::remove(dir / "result.json", ignored);  // an incomplete run must not look finished
    try {
      save_error(dir, crash);
    } catch (const InputError&) {
      // What ended the run, a full disk for one, may be in the way of its record too.
    }
  }

  void report() {
    if (!settings_.on_progress) return;
    progress_.done = outcome_.resumed + outcome_.finished;
    progress_.errors = static_cast<int>(outcome_.crashes.size());
    progress_.seconds = seconds_since(start_);
    progress_.active.clear();
    for (const ActiveChild& child : children_) progress_.active.push_back(child.run);
    std::map<std::string, int> waiting;
    for (const Job& job : waiting_) ++waiting[job.group];
    progress_.eta_seconds = eta_.estimate(waiting, progress_.active, settings_.jobs);
    settings_.on_progress(progress_);
  }

  const RunnerSettings& settings_;
  const IsFinished& is_finished_;
  const std::atomic<int>& interrupts_;
  std::deque<Job> waiting_;
  std::list<ActiveChild> children_;
  JobsOutcome outcome_;
  Progress progress_;
  EtaModel eta_;
  Clock::time_point start_ = Clock::now();
  int signals_sent_ = 0;
};

}  // namespace

fs::path run_directory(const fs::path& out_dir, const RunConfig& config) {
  return out_dir / "runs" / run_id(config);
}

bool is_finished_run_of(const RunConfig& config, const fs::path& run_dir) {
  if (!is_finished(run_dir)) return false;
  try {
    return run_id(load_run(run_dir).config) == run_id(config);
  } catch (const InputError&) {
    return false;  // damaged: it starts over
  }
}

JobsOutcome execute_jobs(const std::vector<Job>& jobs, const RunnerSettings& settings,
                         const IsFinished& is_finished, const std::atomic<int>& interrupts) {
  return Execution(jobs, settings, is_finished, interrupts).run();
}

Job training_job(const RunConfig& config) {
  const Arm arm{config.norm, config.placement};
  return {run_id(config), nlohmann::json(config).dump(1) + "\n", config.task,
          config.task + " " + arm.name(), config.steps};
}

RunnerOutcome execute_runs(const std::vector<RunConfig>& plan, const RunnerSettings& settings,
                           const std::atomic<int>& interrupts) {
  std::vector<Job> jobs;
  std::map<std::string, RunConfig> configs;
  for (const RunConfig& config : plan) {
    jobs.push_back(training_job(config));
    configs[jobs.back().id] = config;
  }
  const auto is_done = [&configs](const Job& job, const fs::path& run_dir) {
    return is_finished_run_of(configs.at(job.id), run_dir);
  };
  const JobsOutcome outcome = execute_jobs(jobs, settings, is_done, interrupts);
  RunnerOutcome runs{outcome.resumed, outcome.finished, {}, outcome.interrupted};
  for (const Crash& crash : outcome.crashes) runs.errors.push_back({crash, configs.at(crash.id)});
  return runs;
}

}  // namespace equinorm::lab
