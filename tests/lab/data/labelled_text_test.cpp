// Texts with labels: words, vocabulary, the split; package lists; digits.
#include "lab/data/labelled_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../temporary_directory.hpp"
#include "lab/data/digits.hpp"
#include "lab/data/packages.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += (i % 2 == 0 ? "even\ttwo twice" : "odd\tone once");
    text += " number" + std::to_string(i) + "\n";
  }
  return text;
}

TEST(LabelledTexts, CutsTextIntoLowerCaseWords) {
  EXPECT_THAT(lower_case_words("A C++ tool, 3D"), ElementsAre("a", "c", "tool", "3d"));
}

TEST(LabelledTexts, TestsOnTheFirstOfTenRunsOfTenLines) {
  const LabelledTexts texts = read_labelled_texts(lines(110), "texts");
  EXPECT_THAT(texts.classes, ElementsAre("even", "odd"));
  EXPECT_EQ(texts.test.size(), 20U);
  EXPECT_EQ(texts.train.size(), 90U);
  EXPECT_EQ(texts.test[1].label, 1);
}

TEST(LabelledTexts, KeepsWordsThatTrainingHasTwice) {
  const LabelledTexts texts = read_labelled_texts(lines(110), "texts");
  EXPECT_EQ(texts.vocabulary, 2U + 4U);
  // Of equally frequent words the first in the alphabet comes first: once, one, twice, two.
  EXPECT_THAT(texts.train[0].words, ElementsAre(5, 4, kUnknownWord));
  EXPECT_THAT(texts.train[1].words, ElementsAre(3, 2, kUnknownWord));
}

TEST(LabelledTexts, SaysWhatIsWrong) {
  const auto message = [](const std::string& text) {
    return message_of<InputError>([&] { read_labelled_texts(text, "my.tsv"); });
  };
  EXPECT_THAT(message("a\tb\nno tab\n"), testing::AllOf(HasSubstr("my.tsv"), HasSubstr("line 2")));
  EXPECT_THAT(message("a\tb\nb\t--\n"), HasSubstr("no word"));
  EXPECT_THAT(message(lines(19)), HasSubstr("19 texts"));
}

TEST(Packages, KeepsTheTenSectionsAndNoDoubles) {
  const std::string dump =
      "Package: a\nDescription: A game of chess\nSection: games\n\n"
      "Package: b\nSection: libs\nDescription: A library\n\n"
      "Package: c\nSection: mail\nDescription: a Game, of chess!\n\n"
      "Package: d\nSection: mail\nDescription: Reads mail\n Description: not this\n";
  EXPECT_EQ(label_packages(dump), "games\tA game of chess\nmail\tReads mail\n");
}

TEST(Digits, ReadsPixelsAndLabels) {
  std::string csv;
  for (int i = 0; i < 12; ++i) {
    for (int pixel = 0; pixel < 64; ++pixel) csv += std::to_string((pixel + i) % 17) + ",";
    csv += std::to_string(i % 10) + "\n";
  }
  const ImageData digits = read_digits(csv, "digits");
  EXPECT_EQ(digits.test.count, 2);
  EXPECT_EQ(digits.train.count, 10);
  EXPECT_EQ(digits.train.labels[0], 1);
  EXPECT_EQ(digits.train.pixels[0], 1);
  EXPECT_EQ(digits.train.pixels[63], 64 % 17);
  EXPECT_GT(digits.stddev, 0);
}

TEST(Digits, SaysWhichLineIsWrong) {
  EXPECT_THAT(message_of<InputError>([] { read_digits("1,2,3\n", "digits.csv"); }),
              testing::AllOf(HasSubstr("digits.csv"), HasSubstr("line 1")));
}

}  // namespace
}  // namespace equinorm::lab
