// One child process's worth of work as the runner sees it: a directory, the config.json in it, and
// a few words for the progress line. What the child computes is no business of the runner.
#pragma once

#include <optional>
#include <string>

namespace equinorm::lab {

struct Job {
  std::string id;      ///< name of its directory under runs/
  std::string config;  ///< text of its config.json
  std::string group;   ///< jobs of one group take alike long: "bible"
  std::string label;   ///< in the progress line: "bible layer-pre"
  int steps = 1;       ///< that it will report
};

/// How a process ended that left no result. With neither exit code nor signal it could not be
/// started.
struct Crash {
  std::string id;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string stderr_tail;
};

}  // namespace equinorm::lab
