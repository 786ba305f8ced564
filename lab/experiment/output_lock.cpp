#include "lab/experiment/output_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

std::string read_holder(int fd) {
  char text[32] = "";
  const ssize_t size = ::pread(fd, text, sizeof text - 1, 0);
  std::string holder(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!holder.empty() && holder.back() == '\n') holder.pop_back();
  return holder.empty() ? "unknown" : holder;
}

}  // namespace

OutputLock::OutputLock(const std::filesystem::path& out_dir) {
  const std::filesystem::path path = out_dir / "lock";
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT, 0666);
  if (fd_ < 0) throw InputError(path.string() + ": cannot be written: " + std::strerror(errno));
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    const std::string holder = read_holder(fd_);
    ::close(fd_);
    if (reason != EWOULDBLOCK) {
      throw InputError(path.string() + ": cannot be locked: " + std::strerror(reason));
    }
    throw InputError(out_dir.string() + ": another comparison (process " + holder +
                     ") is writing there; wait for it, stop it, or choose another --out");
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd_, 0) != 0 || ::pwrite(fd_, pid.data(), pid.size(), 0) < 0) {
    const int reason = errno;
    ::close(fd_);
    throw InputError(path.string() + ": cannot be written: " + std::strerror(reason));
  }
}

OutputLock::~OutputLock() { ::close(fd_); }

}  // namespace equinorm::lab
