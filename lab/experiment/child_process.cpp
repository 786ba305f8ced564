#include "lab/experiment/child_process.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

constexpr int kFailed = 1;
constexpr int kOrphaned = 127;

int exit_code_of(const std::function<int()>& work) {
  try {
    return work();
  } catch (const LabError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    std::fputs("not enough memory\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return kFailed;
}

/// The child, from the fork to its end. Nothing of the parent is destroyed or flushed a second
/// time.
[[noreturn]] void be_child(const std::function<int()>& work, int input, int output, int errors,
                           pid_t parent, const sigset_t& unblocked) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kOrphaned);  // it died before prctl could tell
  ::signal(SIGINT, SIG_IGN);
  for (const int restored : {SIGTERM, SIGHUP, SIGPIPE}) ::signal(restored, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &unblocked, nullptr);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  const int exit_code = exit_code_of(work);
  std::fflush(stdout);
  ::_exit(exit_code);
}

/// Blocks the signals that a command counts. A child would count them too, in memory that nobody
/// reads, between its fork and the setting of its own handlers.
sigset_t block_signals() {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  for (const int counted : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&blocked, counted);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  return before;
}

}  // namespace

ChildProcess::ChildProcess(const std::function<int()>& work) {
  std::fflush(nullptr);  // what waits in buffers would be written by the child as well
  errors_ = ::memfd_create("errors", MFD_CLOEXEC);
  const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  int ends[2] = {-1, -1};
  const bool piped = errors_ >= 0 && input >= 0 && ::pipe2(ends, O_CLOEXEC) == 0;
  const pid_t parent = ::getpid();
  const sigset_t unblocked = block_signals();
  pid_ = piped ? ::fork() : -1;
  if (pid_ == 0) be_child(work, input, ends[1], errors_, parent, unblocked);
  const int reason = errno;
  ::sigprocmask(SIG_SETMASK, &unblocked, nullptr);
  for (const int fd : {input, ends[1]}) {
    if (fd >= 0) ::close(fd);
  }
  if (pid_ < 0) {
    if (piped) ::close(ends[0]);
    if (errors_ >= 0) ::close(errors_);
    throw InputError(std::string("a run cannot be started: ") + std::strerror(reason));
  }
  output_ = ends[0];
  ::fcntl(output_, F_SETFL, O_NONBLOCK);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::exchange(other.output_, -1)),
      errors_(std::exchange(other.errors_, -1)),
      output_closed_(other.output_closed_),
      pending_(std::move(other.pending_)) {}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (output_ >= 0) ::close(output_);
  if (errors_ >= 0) ::close(errors_);
}

std::optional<std::string> ChildProcess::read_last_line() {
  char buffer[4096];
  ssize_t size = 0;
  while ((size = ::read(output_, buffer, sizeof buffer)) > 0) {
    pending_.append(buffer, static_cast<std::size_t>(size));
  }
  if (size == 0) output_closed_ = true;
  const std::size_t end = pending_.rfind('\n');
  if (end == std::string::npos) return std::nullopt;
  const std::size_t before = end == 0 ? std::string::npos : pending_.rfind('\n', end - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  std::string line = pending_.substr(begin, end - begin);
  pending_.erase(0, end + 1);
  return line;
}

std::string ChildProcess::last_errors(std::size_t size) const {
  struct stat file = {};
  ::fstat(errors_, &file);  // no seeking: the child shares the position
  const off_t begin = std::max<off_t>(0, file.st_size - static_cast<off_t>(size));
  std::string text(static_cast<std::size_t>(file.st_size - begin), '\0');
  const ssize_t got = ::pread(errors_, text.data(), text.size(), begin);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

std::optional<ChildExit> ChildProcess::poll_exit() {
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  if (ended != pid_) return std::nullopt;
  pid_ = -1;
  if (WIFSIGNALED(status)) return ChildExit{std::nullopt, WTERMSIG(status)};
  return ChildExit{WEXITSTATUS(status), std::nullopt};
}

void ChildProcess::send(int signal) const noexcept {
  if (pid_ > 0) ::kill(pid_, signal);
}

}  // namespace equinorm::lab
