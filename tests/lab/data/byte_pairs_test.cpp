// Byte pairs: what is learned, in which order, and that text survives them.
#include "lab/data/byte_pairs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../temporary_directory.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

using testing::ElementsAre;

std::vector<PieceId> encode(const BytePairs& pairs, std::string_view line) {
  std::vector<PieceId> all;
  for (const std::string& word : words_with_spaces(line)) {
    for (const PieceId piece : pairs.encode_word(word)) all.push_back(piece);
  }
  return all;
}

std::vector<std::string> cut(const BytePairs& pairs, const std::string& word) {
  std::vector<std::string> pieces;
  // A piece alone loses the space that it may begin with, so a letter goes in front.
  const PieceId letter = pairs.encode_word("a").front();
  for (const PieceId piece : pairs.encode_word(word)) {
    pieces.push_back(pairs.decode({letter, piece}).substr(1));
  }
  return pieces;
}

TEST(BytePairs, CutsALineIntoWordsThatKeepTheirSpace) {
  EXPECT_THAT(words_with_spaces("In the end, no."),
              ElementsAre(" In", " the", " end", ",", " no", "."));
  EXPECT_THAT(words_with_spaces("\xC2\xBFQu\xC3\xA9 \xE2\x80\x9Cya\xE2\x80\x9D?"),
              ElementsAre(" \xC2\xBF", "Qu\xC3\xA9", " \xE2\x80\x9C", "ya", "\xE2\x80\x9D?"));
}

TEST(BytePairs, JoinsTheMostFrequentPairFirst) {
  // ab 4 times, bc 3 times, "space a" 2 times; then abc 3 times.
  const BytePairs pairs = BytePairs::learn({"abc xabc abc", "xab"}, 2);
  EXPECT_THAT(cut(pairs, "abc"), ElementsAre("abc"));
  EXPECT_THAT(cut(pairs, "xab"), ElementsAre("x", "ab"));
  EXPECT_THAT(cut(pairs, " abc"), ElementsAre(" ", "abc"));
  EXPECT_THAT(cut(pairs, "bc"), ElementsAre("b", "c"));
}

TEST(BytePairs, GivesEqualCountsToTheSmallestPair) {
  const BytePairs pairs = BytePairs::learn({"dcba dcba"}, 1);
  EXPECT_THAT(cut(pairs, "dcba"), ElementsAre("d", "c", "b", "a"));
  EXPECT_THAT(cut(pairs, " d"), ElementsAre(" d"));
}

TEST(BytePairs, LeavesAPairAloneThatOccursOnce) {
  const BytePairs pairs = BytePairs::learn({"abcd"}, 100);
  EXPECT_EQ(pairs.size(), kFirstPiece + 5U);
}

TEST(BytePairs, GivesTheTextBack) {
  const std::string line =
      "Ni\xC3\xB1o, ni\xC3\xB1"
      "a 12; \xC2\xA1no! \xE2\x80\x9C"
      "a b\xE2\x80\x9D";
  for (const int merges : {0, 3, 50}) {
    const BytePairs pairs = BytePairs::learn({line, line}, merges);
    EXPECT_EQ(pairs.decode(encode(pairs, line)), line) << merges;
  }
}

TEST(BytePairs, HidesCharactersThatTheLearningTextLacks) {
  const BytePairs pairs = BytePairs::learn({"ab ab"}, 5);
  EXPECT_THAT(pairs.encode_word("z"), ElementsAre(kUnknownPiece));
  EXPECT_EQ(pairs.decode({kBeginPiece, kUnknownPiece, kEndPiece, kPaddingPiece}), "");
}

TEST(BytePairs, ReadsWhatItWrote) {
  const BytePairs pairs = BytePairs::learn({"the cat and the hat and the mat", "a cat"}, 12);
  const BytePairs read = BytePairs::from_text(pairs.to_text(), "pieces");
  EXPECT_EQ(read.to_text(), pairs.to_text());
  EXPECT_EQ(encode(read, "the catamaran"), encode(pairs, "the catamaran"));
}

TEST(BytePairs, RefusesAPieceThatIsNotThereYet) {
  EXPECT_THAT(message_of<InputError>([] { BytePairs::from_text("a\nb\n4\t6\n", "the file"); }),
              testing::AllOf(testing::HasSubstr("the file"), testing::HasSubstr("'6'")));
}

}  // namespace
}  // namespace equinorm::lab
