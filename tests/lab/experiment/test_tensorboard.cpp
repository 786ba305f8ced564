#include "lab/experiment/tensorboard.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <set>

#include "lab/error.hpp"
#include "synthetic_runs.hpp"

namespace equinorm::lab {
namespace {

namespace fs = std::filesystem;

const fs::path kEvents = "events.out.tfevents.equinorm";

/// The data of every record; checks nothing else, which tests/python does with TensorBoard itself.
std::vector<std::string> records_of(const std::string& file) {
  std::vector<std::string> records;
  for (std::size_t at = 0; at < file.size();) {
    std::uint64_t length = 0;
    std::memcpy(&length, file.data() + at, sizeof length);
    records.push_back(file.substr(at + 12, length));
    at += 12 + length + 4;
  }
  return records;
}

bool has_tag(const std::string& record, const std::string& tag) {
  const std::string value = {'\x0a', static_cast<char>(tag.size())};
  return record.find(value + tag + "\x15") != std::string::npos;
}

TEST(TensorBoardEvents, begin_with_the_bytes_that_tensorflow_writes) {
  const std::string file = tensorboard_events("");
  const std::string expected(
      "\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22\x09\0\0\0\0\0\0\0\0\x1a\x0d"
      "brain.Event:2"
      "\xee\xdf(\xa3",
      40);
  EXPECT_EQ(file, expected);
}

TEST(TensorBoardEvents, name_what_a_layer_has_by_its_number_and_leave_out_null) {
  const auto records = records_of(tensorboard_events(testing::metrics_text()));
  ASSERT_EQ(records.size(), 6u);  // the version, then a record a line
  EXPECT_TRUE(has_tag(records[1], "eval/loss"));
  EXPECT_TRUE(has_tag(records[2], "train/learning_rate"));
  EXPECT_FALSE(has_tag(records[2], "train/clipped"));
  for (const char* tag : {"layers/1/activation_rms", "layers/1/grad_norm/qkv",
                          "grad_norm/embedding", "grad_norm/head"}) {
    EXPECT_TRUE(has_tag(records[3], tag)) << tag;
  }
  EXPECT_FALSE(has_tag(records[3], "layers/1/grad_norm/gamma"));
  EXPECT_FALSE(has_tag(records[4], "train/loss"));
}

TEST(TensorBoardEvents, say_which_line_is_no_event) {
  try {
    static_cast<void>(tensorboard_events("{\"event\":\"eval\",\"step\":0}\n{\"event\""));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 8), "line 2: ");
  }
}

TEST(WriteTensorBoard, converts_finished_training_runs_once) {
  const TemporaryDirectory out;
  const std::string id =
      testing::write_run(out.path(), testing::make_config("bible", "layer", "pre", 1e-3, 0), {});
  const fs::path events = out.path() / "tensorboard" / id / kEvents;
  make_directories(out.path() / "runs" / "measured");
  write_atomically(out.path() / "runs" / "measured" / "result.json", "{}");
  make_directories(out.path() / "runs" / "unfinished");
  write_atomically(out.path() / "runs" / "unfinished" / "metrics.jsonl", "{");
  write_tensorboard(out.path());
  EXPECT_EQ(read_text_file(events), tensorboard_events(testing::metrics_text()));
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(out.path() / "tensorboard")) {
    names.insert(entry.path().filename().string());
  }
  EXPECT_EQ(names, (std::set<std::string>{id, kEvents.string()}));
  const auto made = fs::last_write_time(events);
  write_tensorboard(out.path());
  EXPECT_EQ(fs::last_write_time(events), made);
  // A run that was trained anew is converted anew.
  fs::last_write_time(events, made - std::chrono::hours(1));
  write_tensorboard(out.path());
  EXPECT_GE(fs::last_write_time(events), made);
}

}  // namespace
}  // namespace equinorm::lab
