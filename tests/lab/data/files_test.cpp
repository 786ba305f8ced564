// Files that are hard to read or to write.
#include "lab/data/files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../temporary_directory.hpp"
#include "idx_bytes.hpp"
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

TEST(ReadFile, NamesTheFileThatCannotBeRead) {
  EXPECT_THAT(message_of<InputError>([] { read_text_file("/proc/self/mem"); }),
              testing::AllOf(HasSubstr("/proc/self/mem"), HasSubstr("Input/output error")));
}

TEST(ReadFile, RefusesAPipeAtOnce) {
  const TemporaryDirectory directory;
  const auto pipe = directory.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(message_of<InputError>([&] { read_text_file(pipe); }),
              HasSubstr("must be a regular file"));
  EXPECT_THROW(read_maybe_gzip("/dev/null"), InputError);
}

TEST(ReadFile, UnpacksWhatIsLongerThanAPieceAndHasSeveralParts) {
  const TemporaryDirectory directory;
  const auto scratch = directory.path() / "scratch";
  std::string content(5'000'000, 'a');
  for (std::size_t i = 0; i < content.size(); i += 3) content[i] = static_cast<char>(i * i >> 7);
  const std::string zeros(3'000'000, '\0');  // packs so well that its end is one small piece
  const auto file = directory.write("two.gz", gzip(content, scratch) + gzip(zeros, scratch));
  const std::vector<unsigned char> unpacked = read_maybe_gzip(file);
  EXPECT_EQ(std::string(unpacked.begin(), unpacked.end()), content + zeros);
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
