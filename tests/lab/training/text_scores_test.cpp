// BLEU and chrF where they can be worked out by hand; tests/python compares them with sacrebleu.
#include "lab/training/text_scores.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace equinorm::lab {
namespace {

using testing::ElementsAre;

TEST(TextScores, ArePerfectForEqualTexts) {
  const std::vector<std::string> texts = {"In the beginning, God created the heavens.", "Amen."};
  const TextScores scores = score_translations(texts, texts);
  EXPECT_NEAR(scores.bleu, 100, 1e-9);
  EXPECT_NEAR(scores.chrf, 100, 1e-9);
}

TEST(TextScores, AreZeroWithoutAnythingInCommon) {
  const TextScores scores = score_translations({"aaaa", ""}, {"bbbb cc", "dd"});
  EXPECT_EQ(scores.bleu, 0);
  EXPECT_EQ(scores.chrf, 0);
}

TEST(TextScores, SmoothsMissingOrdersAndPunishesBrevity) {
  // 1-grams 4 of 4, 2-grams 2 of 3, 3-grams 0 of 2, 4-grams 0 of 1; 4 words for 5.
  const TextScores scores = score_translations({"a b d e"}, {"a b c d e"});
  const double precision = std::pow(1.0 * (2.0 / 3) * (1.0 / 2 / 2) * (1.0 / 4 / 1), 0.25);
  EXPECT_NEAR(scores.bleu, 100 * std::exp(1 - 5.0 / 4) * precision, 1e-9);
}

TEST(TextScores, WeighRecallTwiceInChrf) {
  // Only 1-grams of "ab" against "abcd": precision 1, recall 1/2; 2-grams 1 and 1/3.
  const TextScores scores = score_translations({"a b"}, {"abcd"});
  const double precision = 1;
  const double recall = (1.0 / 2 + 1.0 / 3) / 2;
  EXPECT_NEAR(scores.chrf, 100 * 5 * precision * recall / (4 * precision + recall), 1e-9);
}

TEST(Tokens13a, SplitsAsMtevalDoes) {
  EXPECT_THAT(tokens_13a("Hello, world. 3.14 and 1,000-2 (x) don't &quot;q&quot;"),
              ElementsAre("Hello", ",", "world", ".", "3.14", "and", "1,000", "-", "2", "(", "x",
                          ")", "don't", "\"", "q", "\""));
}

}  // namespace
}  // namespace equinorm::lab
