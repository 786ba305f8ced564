// Files that are hard to read or to write.
#include "lab/data/files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../temporary_directory.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

using testing::HasSubstr;

std::vector<std::string> names_in(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

/// The number of a process that has ended.
pid_t dead_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

TEST(WriteAtomically, LeavesNothingBehindWhereItFails) {
  const TemporaryDirectory directory;
  directory.write("taken/file", "a folder cannot be replaced by a file");
  EXPECT_THAT(message_of<InputError>([&] { write_atomically(directory.path() / "taken", "x"); }),
              HasSubstr("taken"));
  EXPECT_THAT(names_in(directory.path()), testing::ElementsAre("taken"));
}

TEST(RemoveLeftovers, TakesWhatDeadProcessesLeftAndNothingElse) {
  const TemporaryDirectory directory;
  const std::string alive = "report.html.tmp" + std::to_string(getpid());
  for (const std::string& name :
       {alive, std::string("notes.tmp"), std::string("notes.tmp1x"), std::string("report.html")}) {
    directory.write(name, "x");
  }
  directory.write("report.html.tmp" + std::to_string(dead_process()), "x");
  remove_leftovers(directory.path());
  EXPECT_THAT(names_in(directory.path()),
              testing::UnorderedElementsAre(alive, "notes.tmp", "notes.tmp1x", "report.html"));
  remove_leftovers(directory.path() / "missing");
}

}  // namespace
}  // namespace equinorm::lab
