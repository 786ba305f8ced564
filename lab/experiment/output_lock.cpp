#include "lab/experiment/output_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

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

int open_lock(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0666);
  if (fd < 0) throw InputError(path.string() + ": cannot be written: " + std::strerror(errno));
  return fd;
}

/// False where another process holds it.
bool try_lock(int fd, int kind) {
  if (::flock(fd, kind | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  const int reason = errno;
  ::close(fd);
  throw InputError(std::string("lock: cannot be locked: ") + std::strerror(reason));
}

[[noreturn]] void refuse(int fd, const std::filesystem::path& out_dir) {
  const std::string holder = read_holder(fd);
  ::close(fd);
  throw InputError(out_dir.string() + ": another command (process " + holder +
                   ") is writing there; wait for it, stop it, or choose another --out");
}

void write_holder(int fd, const std::string& holder) {
  const std::string text = holder + "\n";
  if (::ftruncate(fd, 0) == 0 && ::pwrite(fd, text.data(), text.size(), 0) >= 0) return;
  const int reason = errno;
  ::close(fd);
  throw InputError(std::string("lock: cannot be written: ") + std::strerror(reason));
}

/// Turning an exclusive lock into a shared one lets go of it for a moment, in which another shard
/// may hold it exclusively, hence the patience.
void share(int fd, const std::filesystem::path& out_dir) {
  for (int attempt = 0; attempt < 40; ++attempt) {
    if (try_lock(fd, LOCK_SH)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  refuse(fd, out_dir);
}

}  // namespace

void refuse_folder_of(const std::string& command, const std::filesystem::path& out_dir,
                      const std::string& mark) {
  if (!std::filesystem::exists(out_dir / mark)) return;
  throw InputError(out_dir.string() + ": is a folder of '" + command + "'; choose another --out");
}

OutputLock::OutputLock(const std::filesystem::path& out_dir) : fd_(open_lock(out_dir / "lock")) {
  if (!try_lock(fd_, LOCK_EX)) refuse(fd_, out_dir);
  write_holder(fd_, std::to_string(::getpid()));
}

OutputLock::OutputLock(const std::filesystem::path& out_dir, const Shard& shard)
    : fd_(open_lock(out_dir / "lock")) {
  const std::string whole = "shards of " + std::to_string(shard.count);
  if (try_lock(fd_, LOCK_EX)) {
    write_holder(fd_, whole);
    share(fd_, out_dir);
  } else {
    share(fd_, out_dir);
    if (read_holder(fd_) != whole) refuse(fd_, out_dir);
  }
  const std::string name = "lock-" + std::to_string(shard.index);
  shard_fd_ = open_lock(out_dir / name);
  if (!try_lock(shard_fd_, LOCK_EX)) {
    ::close(fd_);
    refuse(shard_fd_, out_dir);
  }
  write_holder(shard_fd_, std::to_string(::getpid()));
}

OutputLock::~OutputLock() {
  ::close(fd_);
  if (shard_fd_ >= 0) ::close(shard_fd_);
}

}  // namespace equinorm::lab
