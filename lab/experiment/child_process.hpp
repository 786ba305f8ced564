// One child process: a fork with its output in a pipe and its errors in memory (a full disk must
// not swallow the complaint about it), watched, stopped. It dies with its parent (also by kill -9),
// so no run goes on unwatched.
//
// The one trap: it is no new program, which saves loading LibTorch for every run; so the parent may
// not have computed with several threads, whose pools a fork leaves behind.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace equinorm::lab {

/// How a child ended: exactly one of the two is set.
struct ChildExit {
  std::optional<int> exit_code;
  std::optional<int> signal;
};

class ChildProcess {
 public:
  /// Starts `work`; the child ends with the exit code that it returns, or that of the error it
  /// throws. The child has an empty standard input, holds the parent's files, locks among them, to
  /// its end, and ignores SIGINT (its parent hears Ctrl-C and decides). Throws InputError when it
  /// cannot be started.
  explicit ChildProcess(const std::function<int()>& work);
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
