// Ctrl-C, termination and hang-up as a count that loops look at.
#pragma once

#include <atomic>

namespace equinorm::lab {

/// While it lives, SIGINT, SIGTERM and SIGHUP are counted instead of ending the process; signals
/// that were ignored before (nohup) stay ignored. One at a time per process. Blocking system calls
/// return with EINTR.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  [[nodiscard]] static const std::atomic<int>& count() noexcept;
  /// count() > 0, as the flag that StopToken watches.
  [[nodiscard]] static const std::atomic<bool>& requested() noexcept;
};

}  // namespace equinorm::lab
