// What a comparison is doing right now, how long it will take, and one line that says so.
#pragma once

#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/experiment/job.hpp"

namespace equinorm::lab {

/// A run that a child process is at.
struct ActiveRun {
  Job job;
  int step = 0;        ///< steps done
  double loss = 0;     ///< of that step
  double seconds = 0;  ///< since it started
};

struct Progress {
  int total = 0;
  int done = 0;    ///< finished, those of an earlier start included
  int errors = 0;  ///< crashed
  std::vector<ActiveRun> active;
  double seconds = 0;                 ///< since this start
  std::optional<double> eta_seconds;  ///< empty until there is something to judge by
};

/// Guesses the time left from the runs of each group that have ended, or from the steps of those
/// under way.
class EtaModel {
 public:
  void add_finished(const std::string& group, double seconds);
  /// `waiting`: number of runs not yet started, by group.
  [[nodiscard]] std::optional<double> estimate(const std::map<std::string, int>& waiting,
                                               const std::vector<ActiveRun>& active,
                                               int jobs) const;

 private:
  struct Sum {
    double seconds = 0;
    int runs = 0;
  };
  std::map<std::string, Sum> finished_;
};

/// "[=====>    ] 12/48 runs, 1 error | layer-pre 120/300 loss 0.612 | ... | ETA 1:23", cut to
/// `width` characters.
[[nodiscard]] std::string render_progress(const Progress& progress, std::size_t width);

/// Shows progress on `stream`: a line redrawn in place on a terminal, elsewhere a line every
/// `plain_interval` seconds.
class ProgressPrinter {
 public:
  enum class Mode { quiet, plain, terminal };

  /// Mode for `stream`: quiet when asked for, terminal when it is one.
  static Mode choose_mode(std::FILE* stream, bool quiet);

  ProgressPrinter(std::FILE* stream, Mode mode, double plain_interval = 5);
  void show(const Progress& progress);
  /// Removes the line so that ordinary output can follow, or other work.
  void finish();

 private:
  static constexpr double kNeverShown = -1e9;

  std::FILE* stream_;
  Mode mode_;
  double plain_interval_;
  double last_shown_ = kNeverShown;
  bool drawn_ = false;
};

}  // namespace equinorm::lab
