// One child process: started with its output in a pipe and its errors in memory (a full disk must
// not swallow the complaint about it), watched, stopped.
//
// The one trap: a child dies with its parent (also by kill -9), so no run goes on unwatched.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace equinorm::lab {

/// How a child ended: exactly one of the two is set.
struct ChildExit {
  std::optional<int> exit_code;
  std::optional<int> signal;
};

class ChildProcess {
 public:
  /// Starts `arguments` (the first one is the program's path). The child gets an empty standard
  /// input, ignores SIGINT (its parent hears Ctrl-C and decides) and computes with one thread.
  /// Throws InputError when it cannot be started.
  explicit ChildProcess(const std::vector<std::string>& arguments);
  /// Kills a child that still runs.
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;

  /// Read end of the child's standard output, non-blocking.
  [[nodiscard]] int output() const noexcept { return output_; }

  /// True once the child has closed its output: usually it has ended.
  [[nodiscard]] bool output_closed() const noexcept { return output_closed_; }

  /// The last complete line that has come in since the previous call, without its end.
  [[nodiscard]] std::optional<std::string> read_last_line();

  /// The last `size` bytes of what it wrote to its standard error.
  [[nodiscard]] std::string last_errors(std::size_t size) const;

  /// How it ended, or nothing while it runs.
  [[nodiscard]] std::optional<ChildExit> poll_exit();

  void send(int signal) const noexcept;

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  int errors_ = -1;
  bool output_closed_ = false;
  std::string pending_;
};

}  // namespace equinorm::lab
