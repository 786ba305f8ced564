// Text: what is accepted, how it becomes ids, what is left of the export of the Bible.
#include "lab/data/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../temporary_directory.hpp"
#include "lab/data/bible.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

using testing::HasSubstr;

TEST(Text, BecomesIdsInOrderOfFrequency) {
  const TextData data = encode_text("abbbcc", "text");
  EXPECT_EQ(data.vocabulary, (std::vector<char32_t>{0, U'b', U'c', U'a'}));
  EXPECT_EQ(data.ids, (std::vector<std::uint8_t>{3, 1, 1, 1, 2, 2}));
}

TEST(Text, CountsCodePointsNotBytes) {
  const TextData data = encode_text("\xE2\x80\x9C\xF0\x9F\x98\x80\xC3\xA9", "text");
  EXPECT_EQ(data.ids.size(), 3U);
  EXPECT_THAT(data.vocabulary,
              testing::UnorderedElementsAre(U'\0', U'\u201C', U'\U0001F600', U'\u00E9'));
}

TEST(Text, WithMoreCharactersThanTheVocabularyHoldsMapsTheRarestToUnknown) {
  std::string text;
  for (int code = 0x4E00; code < 0x4E00 + 300; ++code) {
    text += static_cast<char>(0xE0 | (code >> 12));
    text += static_cast<char>(0x80 | ((code >> 6) & 63));
    text += static_cast<char>(0x80 | (code & 63));
  }
  const TextData data = encode_text(text, "text");
  EXPECT_EQ(data.vocabulary.size(), kMaxVocabulary);
  EXPECT_EQ(std::count(data.ids.begin(), data.ids.end(), 0), 300 - 255);
  EXPECT_EQ(data.ids.back(), 0);  // all equally frequent: the last code points give way
}

TEST(Text, ThatIsEmptyIsRefused) {
  EXPECT_THAT(message_of<InputError>([] { encode_text("", "'a.txt'"); }),
              HasSubstr("'a.txt' is empty"));
}

TEST(Text, OfOneCharacterIsRefusedWithTheSmallestLength) {
  EXPECT_THAT(message_of<InputError>([] { split_text(1, 64, "'a.txt'"); }),
              testing::AllOf(HasSubstr("'a.txt' has 1 character;"), HasSubstr("at least 130")));
}

TEST(Text, WithANulByteIsRefusedWithItsOffset) {
  EXPECT_THAT(message_of<InputError>([] { encode_text(std::string_view("ab\0c", 4), "'a.bin'"); }),
              HasSubstr("NUL byte at offset 2"));
}

TEST(Text, WithInvalidUtf8IsRefusedWithItsOffset) {
  const std::string_view damaged[] = {
      "abc\x80", "abc\xC3", "abc\xC0\xAF", "abc\xED\xA0\x80", "abc\xF4\x90\x80\x80", "abc\xFFz"};
  for (const std::string_view bytes : damaged) {
    EXPECT_THAT(message_of<InputError>([&] { encode_text(bytes, "'a.bin'"); }),
                HasSubstr("at offset 3"));
  }
}

TEST(Text, MayBeginWithAByteOrderMark) { EXPECT_EQ(decode_utf8("\xEF\xBB\xBFok", "text"), U"ok"); }

TEST(TextSplit, KeepsTheLastTwentiethForValidation) {
  const TextSplit split = split_text(10000, 64, "text");
  EXPECT_EQ(split.train_size, 9500U);
  EXPECT_EQ(split.validation_size, 500U);
}

TEST(TextSplit, OfAShortTextLeavesAWholeSampleOnBothSides) {
  const TextSplit split = split_text(130, 64, "text");
  EXPECT_EQ(split.train_size, 65U);
  EXPECT_EQ(split.validation_size, 65U);
}

constexpr std::string_view kExport =
    "$$$[ Module Heading ]\n\n"
    "$$$Genesis 0:0\n<title>Preface</title> An introduction.\n"
    "$$$Genesis 1:1\n"
    "<w lemma=\"strong:H1\">In</w> the <w>beginning</w>, God<note placement=\"foot\"><reference>1:1"
    "</reference>A note.</note><w>created</w> light.\n"
    "$$$Psalms 3:1\n"
    "<title type=\"psalm\">A Psalm.</title> <lg sID=\"1\"/><l sID=\"2\"/>Salt &amp; light,"
    "<l eID=\"2\"/> <q marker=\"\">\xE2\x80\x9Cyes<note>n</note>\xE2\x80\x9D</q> \n"
    "$$$Psalms 3:2\n<note>only a note</note>\n";

TEST(Bible, KeepsTheVersesAndNothingElse) {
  EXPECT_EQ(strip_bible(kExport),
            "In the beginning, God created light.\n"
            "Salt & light, \xE2\x80\x9Cyes\xE2\x80\x9D\n");
}

TEST(Bible, OfAnEmptyExportIsEmpty) {
  EXPECT_EQ(strip_bible(""), "");
  EXPECT_EQ(strip_bible("no key here"), "");
}

TEST(Bible, DoesNotCarryTheNameOfTheUnchangedText) {
  EXPECT_THAT(std::string(kBibleTitle), testing::StartsWith("bible (from "));
}

}  // namespace
}  // namespace equinorm::lab
