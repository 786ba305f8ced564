// One writer at a time per output folder, or the shards of one piece of work side by side.
//
// The one trap: child processes inherit the lock on purpose, so it is free only when the runs of a
// killed comparison are gone too.
#pragma once

#include <filesystem>
#include <string>

namespace equinorm::lab {

/// Which part of the runs a process does: `index` from 1 to `count`.
struct Shard {
  int index = 1;
  int count = 1;
};

/// Throws InputError where the folder has what another command leaves, `mark`: each writes a
/// report.html of its own.
void refuse_folder_of(const std::string& command, const std::filesystem::path& out_dir,
                      const std::string& mark);

/// Holds OUT/lock until destroyed. Throws InputError when another process holds it (naming that
/// process) or the file cannot be made.
class OutputLock {
 public:
  explicit OutputLock(const std::filesystem::path& out_dir);
  /// Shares the folder with the other shards of the same count; each of them can be there once.
  OutputLock(const std::filesystem::path& out_dir, const Shard& shard);
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

 private:
  int fd_ = -1;
  int shard_fd_ = -1;
};

}  // namespace equinorm::lab
