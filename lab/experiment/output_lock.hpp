// One comparison at a time per output folder.
//
// The one trap: child processes inherit the lock on purpose, so it is free only when the runs of a
// killed comparison are gone too.
#pragma once

#include <filesystem>

namespace equinorm::lab {

/// Holds OUT/lock until destroyed. Throws InputError when another process holds it (naming that
/// process) or the file cannot be made.
class OutputLock {
 public:
  explicit OutputLock(const std::filesystem::path& out_dir);
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace equinorm::lab
