#include "lab/experiment/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace equinorm::lab {
namespace {

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  if (whole >= 3600) {
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::size_t terminal_width(std::FILE* stream) {
  winsize size = {};
  if (::ioctl(::fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string describe(const ActiveRun& run) {
  std::string text = fmt::format("{} {}/{}", run.job.label, run.step, run.job.steps);
  if (run.step > 0) text += fmt::format(" loss {:.3f}", run.loss);
  return text;
}

}  // namespace

void EtaModel::add_finished(const std::string& group, double seconds) {
  finished_[group].seconds += seconds;
  ++finished_[group].runs;
}

std::optional<double> EtaModel::estimate(const std::map<std::string, int>& waiting,
                                         const std::vector<ActiveRun>& active, int jobs) const {
  std::map<std::string, double> cost;
  for (const auto& [group, sum] : finished_) cost[group] = sum.seconds / sum.runs;
  for (const ActiveRun& run : active) {
    // Ten steps make a first guess; start-up is charged to them, so it errs on the long side.
    if (run.step < 10 || finished_.count(run.job.group) > 0) continue;
    cost[run.job.group] = run.seconds * run.job.steps / run.step;
  }
  if (cost.empty()) return std::nullopt;
  double mean = 0;
  for (const auto& [group, seconds] : cost) mean += seconds / static_cast<double>(cost.size());
  const auto cost_of = [&](const std::string& group) {
    const auto known = cost.find(group);
    return known == cost.end() ? mean : known->second;
  };
  double work = 0;
  for (const auto& [group, count] : waiting) work += count * cost_of(group);
  double longest = 0;
  for (const ActiveRun& run : active) {
    const double left = std::max(0.0, cost_of(run.job.group) - run.seconds);
    work += left;
    longest = std::max(longest, left);
  }
  return std::max(longest, work / std::max(1, jobs));
}

std::string render_progress(const Progress& progress, std::size_t width) {
  constexpr int kCells = 20;
  const int ended = progress.done + progress.errors;
  const int filled = progress.total == 0 ? kCells : kCells * ended / progress.total;
  std::string line = fmt::format("[{}{}]", std::string(static_cast<std::size_t>(filled), '='),
                                 std::string(static_cast<std::size_t>(kCells - filled), ' '));
  line += fmt::format(" {}/{} runs", progress.done, progress.total);
  if (progress.errors > 0) line += fmt::format(", {} crashed", progress.errors);
  if (ended < progress.total) {
    line += progress.eta_seconds ? " | ETA " + clock_text(*progress.eta_seconds) : " | ETA ?";
  }
  for (const ActiveRun& run : progress.active) line += " | " + describe(run);
  if (line.size() > width) line.resize(width);
  return line;
}

ProgressPrinter::Mode ProgressPrinter::choose_mode(std::FILE* stream, bool quiet) {
  if (quiet) return Mode::quiet;
  return ::isatty(::fileno(stream)) == 1 ? Mode::terminal : Mode::plain;
}

ProgressPrinter::ProgressPrinter(std::FILE* stream, Mode mode, double plain_interval)
    : stream_(stream), mode_(mode), plain_interval_(plain_interval) {}

void ProgressPrinter::show(const Progress& progress) {
  const double interval = mode_ == Mode::terminal ? 0.1 : plain_interval_;
  if (mode_ == Mode::quiet || progress.seconds - last_shown_ < interval) return;
  last_shown_ = progress.seconds;
  if (mode_ == Mode::plain) {
    fmt::print(stream_, "{}\n", render_progress(progress, 400));
  } else {
    // One column less than the terminal has, or some terminals would wrap.
    fmt::print(stream_, "\r\x1b[K{}", render_progress(progress, terminal_width(stream_) - 1));
    drawn_ = true;
  }
  std::fflush(stream_);
}

void ProgressPrinter::finish() {
  last_shown_ = kNeverShown;  // the next work's clock starts at 0
  if (!drawn_) return;
  fmt::print(stream_, "\r\x1b[K");
  std::fflush(stream_);
  drawn_ = false;
}

}  // namespace equinorm::lab
