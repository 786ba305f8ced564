// Files and small programs: whole-file reads, atomic writes, the cache directory, output of a
// command. Every failure is an InputError that names the path.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace equinorm::lab {

/// The whole file. With a gzip header it is unpacked, otherwise taken as it is.
std::vector<unsigned char> read_maybe_gzip(const std::filesystem::path& path);
std::string read_text_file(const std::filesystem::path& path);

/// Writes beside `path`, syncs, then renames: readers see the old file or the whole new one.
void write_atomically(const std::filesystem::path& path, std::string_view content);

/// Removes from `directory` what write_atomically left there in processes that died over it.
void remove_leftovers(const std::filesystem::path& directory);

/// Returns once the file is on disk.
void sync_file(const std::filesystem::path& path);

/// Creates the directory and its parents.
void make_directories(const std::filesystem::path& path);

/// $XDG_CACHE_HOME/equinorm, or ~/.cache/equinorm. Throws where neither variable is set.
std::filesystem::path default_cache_dir();

/// Standard output of a program run without a shell, or an empty string and `exit_code` 127 where
/// it isn't installed. Its standard error is dropped.
std::string output_of(const std::vector<std::string>& arguments, int& exit_code);

}  // namespace equinorm::lab
