// Files and small programs, on POSIX calls where the standard library can't sync or spawn.
#include "lab/data/files.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "lab/error.hpp"

extern char** environ;

namespace equinorm::lab {
namespace {

[[noreturn]] void fail(const std::string& what, const std::filesystem::path& path) {
  throw InputError(what + " '" + path.string() + "': " + std::strerror(errno));
}

void require_regular(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw InputError("'" + path.string() + "' does not exist");
  }
  if (std::filesystem::is_directory(status)) {
    throw InputError("'" + path.string() + "' is a directory, a file is needed");
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw InputError("'" + path.string() +
                     "' is a pipe or a device: must be a regular file, because each run reads it");
  }
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

/// All members of gzip data. gzread would pass over in silence what else is behind them.
std::vector<unsigned char> unpack(std::string packed, const std::filesystem::path& path) {
  constexpr std::size_t kChunk = std::size_t{1} << 20;  // the counters of zlib have 32 bits
  const auto require = [&](bool holds, const std::string& what) {
    if (!holds) throw InputError("cannot unpack '" + path.string() + "': " + what);
  };
  z_stream stream = {};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  std::vector<unsigned char> content;
  std::size_t used = 0;
  std::size_t next = 0;
  while (next < packed.size() || stream.avail_out == 0) {  // no room left: more may be to come
    if (content.size() - used < kChunk) content.resize(2 * content.size() + kChunk);
    stream.next_in = reinterpret_cast<Bytef*>(packed.data()) + next;
    stream.avail_in = static_cast<uInt>(std::min(packed.size() - next, kChunk));
    stream.next_out = content.data() + used;
    stream.avail_out = kChunk;
    const int code = inflate(&stream, Z_NO_FLUSH);
    used = static_cast<std::size_t>(stream.next_out - content.data());
    next = static_cast<std::size_t>(stream.next_in - reinterpret_cast<Bytef*>(packed.data()));
    if (code == Z_STREAM_END) {
      const auto rest = std::string_view(packed).substr(next);
      require(rest.empty() || is_gzip(rest),
              std::to_string(rest.size()) + " bytes behind its gzip data");
      if (rest.empty()) {
        content.resize(used);
        return content;
      }
      inflateReset(&stream);
    } else {
      require(code == Z_OK || code == Z_BUF_ERROR, stream.msg != nullptr ? stream.msg : "damaged");
    }
  }
  throw InputError("cannot unpack '" + path.string() + "': the gzip data is truncated");
}

constexpr const char* kTemporary = ".tmp";  // then the number of the process that writes

/// Errors name `path`, which is what the user knows.
void write_synced(const std::string& temporary, std::string_view content,
                  const std::filesystem::path& path) {
  const Descriptor file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.get() < 0) fail("cannot write", path);
  while (!content.empty()) {
    const ssize_t written = write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write", path);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fsync(file.get()) != 0) fail("cannot write", path);
}

}  // namespace

std::vector<unsigned char> read_maybe_gzip(const std::filesystem::path& path) {
  std::string content = read_text_file(path);
  if (is_gzip(content)) return unpack(std::move(content), path);
  return {content.begin(), content.end()};
}

std::string read_text_file(const std::filesystem::path& path) {
  require_regular(path);
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail("cannot open", path);
  std::string content;
  std::vector<char> buffer(1U << 20);
  for (;;) {
    const ssize_t got = read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read", path);
    if (got == 0) return content;
    content.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

void make_directories(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    throw InputError("cannot create directory '" + path.string() + "': " + error.message());
  }
}

void write_atomically(const std::filesystem::path& path, std::string_view content) {
  const std::string temporary = path.string() + kTemporary + std::to_string(getpid());
  try {
    write_synced(temporary, content, path);
    if (rename(temporary.c_str(), path.c_str()) != 0) fail("cannot write", path);
  } catch (const InputError&) {
    unlink(temporary.c_str());
    throw;
  }
  // The rename itself is lost with the power unless the directory is synced too.
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
  const Descriptor directory(open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() >= 0) fsync(directory.get());
}

void remove_leftovers(const std::filesystem::path& directory) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    const std::size_t mark = name.rfind(kTemporary);
    if (mark == std::string::npos) continue;
    const std::string writer = name.substr(mark + std::strlen(kTemporary));
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(writer.data(), writer.data() + writer.size(), pid);
    if (error != std::errc{} || *end != '\0' || pid <= 0) continue;
    if (kill(pid, 0) != 0 && errno == ESRCH) std::filesystem::remove(entry.path(), ignored);
  }
}

void sync_file(const std::filesystem::path& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0 || fsync(file.get()) != 0) fail("cannot sync", path);
}

std::filesystem::path default_cache_dir() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return std::filesystem::path(cache) / "equinorm";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::filesystem::path(home) / ".cache" / "equinorm";
  }
  throw InputError("no cache directory: set HOME or XDG_CACHE_HOME, or give --cache DIR");
}

std::string output_of(const std::vector<std::string>& arguments, int& exit_code) {
  int pipe_ends[2];
  exit_code = 127;
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return {};
  const Descriptor reader(pipe_ends[0]);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  if (error != 0) return {};

  std::string output;
  std::vector<char> buffer(1U << 16);
  for (;;) {
    const ssize_t got = read(reader.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    output.append(buffer.data(), static_cast<std::size_t>(got));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) exit_code = WEXITSTATUS(status);
  return output;
}

}  // namespace equinorm::lab
