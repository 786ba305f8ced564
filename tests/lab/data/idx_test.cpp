// IDX files, good and damaged.
#include "lab/data/idx.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "idx_bytes.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

using testing::HasSubstr;

TEST(IdxFile, IsReadPlainAndGzippedAlike) {
  const TemporaryDirectory directory;
  const std::string bytes = idx_bytes({2, 1, 3}, "abcdef");
  const auto plain = read_idx(directory.write("plain", bytes), 3);
  const auto packed =
      read_idx(directory.write("packed.gz", gzip(bytes, directory.path() / "scratch")), 3);
  EXPECT_EQ(plain.shape, (std::vector<std::int64_t>{2, 1, 3}));
  EXPECT_EQ(std::string(plain.values.begin(), plain.values.end()), "abcdef");
  EXPECT_EQ(packed.shape, plain.shape);
  EXPECT_EQ(packed.values, plain.values);
}

TEST(IdxFile, CutAtAnyByteIsAnErrorThatSaysTruncated) {
  const TemporaryDirectory directory;
  const std::string bytes = idx_bytes({2, 1, 3}, "abcdef");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto file = directory.write("cut", bytes.substr(0, size));
    EXPECT_THAT(message_of<InputError>([&] { read_idx(file, 3); }), HasSubstr("truncated"))
        << "size " << size;
  }
}

TEST(IdxFile, CutGzipIsAnErrorThatSaysTruncated) {
  const TemporaryDirectory directory;
  const std::string bytes = gzip(idx_bytes({1, 1, 1}, "x"), directory.path() / "scratch");
  const auto file = directory.write("cut.gz", bytes.substr(0, bytes.size() - 6));
  EXPECT_THAT(message_of<InputError>([&] { read_idx(file, 3); }), HasSubstr("truncated"));
}

TEST(IdxFile, WithDamagedGzipIsAnErrorThatNamesTheFile) {
  const TemporaryDirectory directory;
  std::string bytes =
      gzip(idx_bytes({64, 1, 1}, std::string(64, 'x')), directory.path() / "scratch");
  bytes[bytes.size() - 8] = static_cast<char>(bytes[bytes.size() - 8] ^ 1);  // the CRC
  const auto file = directory.write("damaged.gz", bytes);
  EXPECT_THAT(message_of<InputError>([&] { read_idx(file, 3); }), HasSubstr("damaged.gz"));
}

TEST(IdxFile, WithBytesBehindItsGzipDataIsAnError) {
  const TemporaryDirectory directory;
  const std::string bytes = gzip(idx_bytes({1}, "a"), directory.path() / "scratch");
  for (const std::string garbage : {"x", "some garbage"}) {
    const auto file = directory.write("long.gz", bytes + garbage);
    EXPECT_THAT(message_of<InputError>([&] { read_idx(file, 1); }),
                HasSubstr(std::to_string(garbage.size()) + " bytes behind its gzip data"));
  }
}

TEST(IdxFile, WithTooManyBytesIsAnError) {
  const TemporaryDirectory directory;
  const auto file = directory.write("long", idx_bytes({1}, "ab"));
  EXPECT_THAT(message_of<InputError>([&] { read_idx(file, 1); }), HasSubstr("too long"));
}

TEST(IdxFile, WithAnotherMagicNumberIsAnErrorThatShowsBoth) {
  const TemporaryDirectory directory;
  std::string bytes = idx_bytes({1, 1, 1}, "x");
  bytes[2] = '\x0D';  // floats
  const auto file = directory.write("magic", bytes);
  EXPECT_THAT(message_of<InputError>([&] { read_idx(file, 3); }),
              testing::AllOf(HasSubstr("00000d03"), HasSubstr("00000803")));
}

TEST(IdxFile, OfLabelsIsNotTakenForImages) {
  const TemporaryDirectory directory;
  const auto file = directory.write("labels", idx_bytes({3}, "abc"));
  EXPECT_THAT(message_of<InputError>([&] { read_idx(file, 3); }), HasSubstr("magic number"));
}

TEST(IdxFile, WhoseSizesOverflowIsAnError) {
  const TemporaryDirectory directory;
  const auto file = directory.write("huge", idx_bytes({0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, "x"));
  EXPECT_THAT(message_of<InputError>([&] { read_idx(file, 3); }), HasSubstr("overflow"));
}

TEST(ImageDirectory, IsReadWithItsClassesAndPixelStatistics) {
  const TemporaryDirectory directory;
  write_image_directory(directory, 9, 4);
  const ImageData data = read_image_directory(directory.path());
  EXPECT_EQ(data.train.count, 9);
  EXPECT_EQ(data.test.count, 4);
  EXPECT_EQ(data.rows, 4);
  EXPECT_EQ(data.cols, 3);
  EXPECT_EQ(data.classes, 3);
  double sum = 0;
  for (const unsigned char pixel : data.train.pixels) sum += pixel;
  EXPECT_DOUBLE_EQ(data.mean, sum / (9 * 12));
}

TEST(ImageDirectory, WithoutOneFileIsAnErrorThatNamesIt) {
  const TemporaryDirectory directory;
  write_image_directory(directory, 3, 3);
  std::filesystem::remove(directory.path() / "t10k-labels-idx1-ubyte");
  EXPECT_THAT(message_of<InputError>([&] { read_image_directory(directory.path()); }),
              HasSubstr("has no t10k-labels-idx1-ubyte"));
}

TEST(ImageDirectory, WithUnequalCountsIsAnErrorThatShowsBoth) {
  const TemporaryDirectory directory;
  write_image_directory(directory, 3, 3);
  directory.write("train-labels-idx1-ubyte", idx_bytes({2}, std::string(2, '\1')));
  EXPECT_THAT(message_of<InputError>([&] { read_image_directory(directory.path()); }),
              testing::AllOf(HasSubstr("3 images"), HasSubstr("2 labels")));
}

TEST(ImageDirectory, WithALabelThatTrainingLacksIsAnError) {
  const TemporaryDirectory directory;
  write_image_directory(directory, 3, 3);
  directory.write("t10k-labels-idx1-ubyte", idx_bytes({3}, std::string("\0\1\7", 3)));
  EXPECT_THAT(message_of<InputError>([&] { read_image_directory(directory.path()); }),
              HasSubstr("label 7"));
}

TEST(ImageDirectory, ThatDoesNotExistIsAnError) {
  EXPECT_THAT(message_of<InputError>([] { read_image_directory("/nonexistent/images"); }),
              HasSubstr("/nonexistent/images"));
}

}  // namespace
}  // namespace equinorm::lab
