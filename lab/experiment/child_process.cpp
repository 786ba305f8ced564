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
#include <cstdlib>
#include <cstring>
#include <utility>

#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

/// The environment with one thread for every library that would start its own.
std::vector<std::string> single_thread_environment() {
  const std::vector<std::string> ours = {"OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1",
                                         "EQUINORM_NUM_THREADS=1"};
  std::vector<std::string> environment = ours;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& own : ours)
      replaced = replaced || own.compare(0, name.size(), name) == 0;
    if (!replaced) environment.push_back(text);
  }
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Runs in the child between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(char* const* argv, char* const* envp, int output, int errors, int input,
                         pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it died before prctl could tell
  ::signal(SIGINT, SIG_IGN);
  for (const int restored : {SIGTERM, SIGHUP, SIGPIPE}) ::signal(restored, SIG_DFL);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::execve(argv[0], argv, envp);
  static const char message[] = "the program of the run cannot be started\n";
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, message, sizeof message - 1);
  ::_exit(127);
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments) {
  std::vector<std::string> argument_copy = arguments;
  std::vector<std::string> environment = single_thread_environment();
  const std::vector<char*> argv = pointers(argument_copy);
  const std::vector<char*> envp = pointers(environment);
  errors_ = ::memfd_create("errors", MFD_CLOEXEC);
  const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  int ends[2] = {-1, -1};
  const bool piped = errors_ >= 0 && input >= 0 && ::pipe2(ends, O_CLOEXEC) == 0;
  const pid_t parent = ::getpid();
  pid_ = piped ? ::fork() : -1;
  if (pid_ == 0) become(argv.data(), envp.data(), ends[1], errors_, input, parent);
  const int reason = errno;
  for (const int fd : {input, ends[1]}) {
    if (fd >= 0) ::close(fd);
  }
  if (pid_ < 0) {
    if (piped) ::close(ends[0]);
    if (errors_ >= 0) ::close(errors_);
    throw InputError(arguments.at(0) + ": cannot be started: " + std::strerror(reason));
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
