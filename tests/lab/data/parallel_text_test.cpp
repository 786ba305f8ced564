// Pairing verses by their keys, holding chapters out, reading pairs.
#include "lab/data/parallel_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../temporary_directory.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

using testing::HasSubstr;

// `chapters` chapters of two pairs.
std::string chapters(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) {
    const std::string key = "Book " + std::to_string(i) + ":";
    text += key + "1\tone two\tuno dos\n" + key + "2\tthree\ttres\n";
  }
  return text;
}

TEST(PairVerses, PairsWhatBothHaveWithoutPsalmsAndTags) {
  const std::string english =
      "$$$Genesis 1:0\nHeading\n$$$Genesis 1:1\n<w>In the</w> beginning.<note>x</note>\n"
      "$$$Genesis 1:2\nAlone.\n$$$Psalms 1:1\nBlessed.\n$$$John 1:1\nThe Word.\n";
  const std::string spanish =
      "$$$Genesis 1:1\n<w>EN el</w> principio.\n$$$Psalms 1:1\nBienaventurado.\n"
      "$$$John 1:1\nEl Verbo.\n$$$John 1:2\nSolo.\n";
  EXPECT_EQ(pair_verses(english, spanish),
            "Genesis 1:1\tIn the beginning.\tEN el principio.\nJohn 1:1\tThe Word.\tEl Verbo.\n");
}

TEST(PairVerses, LeavesOutWhatIsLong) {
  std::string longer = "word";
  for (int i = 1; i < kMostVerseWords; ++i) longer += " word";
  const std::string spanish = "$$$John 1:1\nuna\n";
  EXPECT_NE(pair_verses("$$$John 1:1\n" + longer + "\n", spanish), "");
  EXPECT_EQ(pair_verses("$$$John 1:1\n" + longer + " word\n", spanish), "");
}

TEST(ParallelText, HoldsEveryTwentiethChapterOutAsAWhole) {
  const std::string text = chapters(41);
  const auto lines = read_parallel_lines(text, "pairs");
  const ParallelText read = encode_parallel(lines, learn_pieces(lines, 10));
  EXPECT_EQ(read.train.size(), 78U);
  ASSERT_EQ(read.held_out.size(), 4U);
  EXPECT_EQ(read.held_out[1].source, "three");
  EXPECT_EQ(read.held_out[0].words, 2);
}

TEST(ParallelText, LearnsPiecesFromTrainingAlone) {
  std::string text = chapters(19);
  text += "Last 1:1\tzebra zebra\tzebra zebra\n";
  const auto lines = read_parallel_lines(text, "pairs");
  const ParallelText read = encode_parallel(lines, learn_pieces(lines, 10));
  ASSERT_EQ(read.held_out.size(), 1U);
  EXPECT_THAT(read.held_out[0].source_pieces, testing::Contains(kUnknownPiece));
}

TEST(ParallelText, SaysWhichLineIsNoPair) {
  const auto message = [](const std::string& text) {
    return message_of<InputError>([&] { read_parallel_lines(text, "my.tsv"); });
  };
  EXPECT_THAT(message("A 1:1\tone\tuno\nA 1:2\tone\n"),
              testing::AllOf(HasSubstr("my.tsv"), HasSubstr("line 2")));
  EXPECT_THAT(message("A 1:1\tone\tuno\tein\n"), HasSubstr("line 1"));
  EXPECT_THAT(message(chapters(19)), HasSubstr("19 chapters"));
}

}  // namespace
}  // namespace equinorm::lab
