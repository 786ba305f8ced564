// Every outcome that a rule can have, from made-up runs with known numbers.
#include "lab/evidence/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "made_up.hpp"

namespace equinorm::lab {
namespace {

using ::testing::HasSubstr;
using testing::MadeUpLab;

const std::string kLower = R"([[verdict]]
claim = "C"
says = "a is lower"
compare = ["a", "b"]
direction = "lower"
)";

/// Noise of half width 0.159 around `difference` between a and b, the same at both sizes.
auto with_difference(double difference, double noise = 0.1) {
  return [=](const std::string& arm, int size, int seed) {
    const double wobble = noise * (seed % 2 == 0 ? 1 : -1);
    return size + (arm == "a" ? difference + wobble : 0);
  };
}

Verdict judged(const std::string& rule, double difference, double noise = 0.1) {
  MadeUpLab lab(rule);
  lab.write(with_difference(difference, noise));
  return lab.verdict();
}

TEST(Direction, IsReproducedWhereTheIntervalLiesOnTheClaimedSide) {
  const Verdict verdict = judged(kLower, -1);
  EXPECT_EQ(verdict.outcome, Outcome::reproduced);
  EXPECT_EQ(verdict.n, 4);
  EXPECT_THAT(verdict.number, HasSubstr("-1 +- 0.184"));
}

TEST(Direction, IsOppositeWhereItLiesOnTheOtherSide) {
  EXPECT_EQ(judged(kLower, 1).outcome, Outcome::opposite);
}

TEST(Direction, IsNotFoundWhereTheIntervalHoldsZero) {
  const Verdict verdict = judged(kLower, -0.1);
  EXPECT_EQ(verdict.outcome, Outcome::not_found);
  EXPECT_THAT(verdict.detail, HasSubstr("the interval holds 0"));
}

TEST(Direction, CanBeThatOfADifferenceBetweenTwoPoints) {
  const auto judged_by = [](const std::string& points) {
    MadeUpLab lab(kLower + points);
    // a - b is -1 at size 1 and 2 at size 2.
    lab.write([](const std::string& arm, int size, int seed) {
      const double wobble = seed % 2 == 0 ? 0.1 : -0.1;
      return arm == "b" ? 0 : (size == 1 ? -1 : 2) + size * wobble;
    });
    return lab.verdict();
  };
  const Verdict small = judged_by("at = { size = 1 }\nminus_at = { size = 2 }\n");
  EXPECT_EQ(small.outcome, Outcome::reproduced);
  EXPECT_THAT(small.number, HasSubstr("-3 +-"));
  EXPECT_EQ(judged_by("at = { size = 2 }\nminus_at = { size = 1 }\n").outcome, Outcome::opposite);
}

TEST(Direction, CanBeThatOfADifferenceBetweenTwoPairsOfArms) {
  // b - a is 1 -+ 0.1; against a - b it is larger by 2 -+ 0.2.
  MadeUpLab lab(
      "[[verdict]]\nclaim = \"C\"\nsays = \"x\"\ncompare = [\"b\", \"a\"]\n"
      "minus_compare = [\"a\", \"b\"]\ndirection = \"higher\"\nat_least = 1.5\n");
  lab.write([](const std::string& arm, int, int seed) {
    return arm == "a" ? 0 : 1 + (seed % 2 == 0 ? 0.1 : -0.1);
  });
  const Verdict verdict = lab.verdict();
  EXPECT_EQ(verdict.outcome, Outcome::reproduced);
  EXPECT_THAT(verdict.number, HasSubstr("+2 +- "));
}

TEST(Direction, IsNotMeasurableInATierWithoutAnArm) {
  const std::string tier = "[tier.quick]\narms = [\"b\"]\n";
  const std::string value =
      "[[verdict]]\nclaim = \"C\"\nsays = \"x\"\n"
      "require = [{ arm = \"a\", metric = \"value\", above = 0 }]\n";
  for (const std::string& rule : {kLower, value}) {
    const Verdict verdict = judged(tier + rule, -1);
    EXPECT_EQ(verdict.outcome, Outcome::not_measurable);
    EXPECT_EQ(verdict.detail, "the tier quick has no arm 'a'");
  }
}

TEST(Settings, ThatATierLacksAreNamed) {
  const std::string tier = "[tier.quick]\naxes = { size = [1] }\n";
  const std::string condition =
      "[[verdict]]\nclaim = \"C\"\nsays = \"x\"\n"
      "require = [{ arm = \"a\", metric = \"value\", at = { size = 2 }, above = 0 }]\n";
  std::string exact = condition;
  exact.replace(exact.find("require"), 0, "exact = true\n");
  for (const std::string& rule :
       {kLower + "at = { size = 2 }\n", kLower + "at = { size = 1 }\nminus_at = { size = 2 }\n",
        condition, exact}) {
    const Verdict verdict = judged(tier + rule, -1);
    EXPECT_EQ(verdict.outcome, Outcome::not_measurable);
    EXPECT_EQ(verdict.detail, "the tier quick has no size = 2");
  }
}

TEST(Metrics, ThatNoRunGaveAreNamedInPlaceOfSeeds) {
  const std::string condition =
      "[[verdict]]\nclaim = \"C\"\nsays = \"x\"\n"
      "require = [{ arm = \"a\", metric = \"value\", above = 0 }]\n";
  std::string exact = condition;
  exact.replace(exact.find("require"), 0, "exact = true\n");
  for (const std::string& rule : {kLower, condition, exact}) {
    MadeUpLab lab(rule);
    // Infinite numbers are not kept: the runs are finished, without the metric.
    lab.write([](const std::string& arm, int, int) { return arm == "a" ? INFINITY : 1.0; });
    const Verdict verdict = lab.verdict();
    EXPECT_EQ(verdict.outcome, Outcome::not_measurable);
    EXPECT_THAT(verdict.detail, HasSubstr("no run"));
    EXPECT_THAT(verdict.detail, HasSubstr("gave"));
    EXPECT_THAT(verdict.detail, HasSubstr("a: 0 of "));
    EXPECT_EQ(verdict.detail.find("seeds"), std::string::npos) << verdict.detail;
  }
}

TEST(Direction, TurnsWithTheClaim) {
  std::string higher = kLower;
  higher.replace(higher.rfind("lower"), 5, "higher");
  EXPECT_EQ(judged(higher, -1).outcome, Outcome::opposite);
  EXPECT_EQ(judged(higher, 1).outcome, Outcome::reproduced);
}

TEST(ClaimedSize, ThatTheIntervalExcludesIsNotReproducedThoughTheDirectionIs) {
  const Verdict verdict = judged(kLower + "at_least = 2\n", -1);
  EXPECT_EQ(verdict.outcome, Outcome::not_found);
  EXPECT_THAT(verdict.detail, HasSubstr("excludes the claimed size, 2"));
}

TEST(ClaimedSize, WithinTheIntervalIsReproduced) {
  const Verdict verdict = judged(kLower + "at_least = 1.1\n", -1);
  EXPECT_EQ(verdict.outcome, Outcome::reproduced);
  EXPECT_THAT(verdict.detail, HasSubstr("holds the claimed size"));
}

TEST(ClaimedSize, NotFoundTellsExclusionFromSilence) {
  const Verdict excluded = judged(kLower + "at_least = 2\n", -0.1);
  const Verdict silent = judged(kLower + "at_least = 0.2\n", -0.1);
  EXPECT_EQ(excluded.outcome, Outcome::not_found);
  EXPECT_EQ(silent.outcome, Outcome::not_found);
  EXPECT_THAT(excluded.detail, HasSubstr("the interval excludes the claimed size"));
  EXPECT_THAT(silent.detail, HasSubstr("these runs do not say"));
}

TEST(Relative, SizesAreSharesOfTheSecondArm) {
  // At size 1 and 2, b is 1 and 2, so -0.5 is -50 % and -25 %.
  const Verdict verdict = judged(kLower + "relative = true\n", -0.5, 0);
  EXPECT_EQ(verdict.outcome, Outcome::reproduced);
  EXPECT_THAT(verdict.number, HasSubstr("-33.3 %"));  // -0.5 over the mean of b, 1.5
}

TEST(Within, HasAllThreeOutcomes) {
  const std::string rule = R"([[verdict]]
claim = "C"
says = "a is b"
compare = ["a", "b"]
within = 0.5
)";
  EXPECT_EQ(judged(rule, 0.1).outcome, Outcome::reproduced);
  EXPECT_EQ(judged(rule, 2).outcome, Outcome::opposite);
  EXPECT_EQ(judged(rule, 0.5).outcome, Outcome::not_found);
}

TEST(Seeds, FewerThanThreeAreNoFinding) {
  MadeUpLab lab(kLower);
  lab.write([](const std::string& arm, int, int seed) {
    return seed < 2 ? (arm == "a" ? 0.0 : 1.0) : NAN;
  });
  const Verdict verdict = lab.verdict();
  EXPECT_EQ(verdict.outcome, Outcome::not_measurable);
  EXPECT_EQ(verdict.n, 2);
}

TEST(Seeds, ArePaired) {
  // Seeds differ by 100, arms by 1: only a paired interval can see it.
  MadeUpLab lab(kLower);
  lab.write([](const std::string& arm, int, int seed) {
    return 100.0 * seed + 0.01 * (seed % 2) + (arm == "a" ? -1 - 0.02 * (seed % 2) : 0);
  });
  EXPECT_EQ(lab.verdict().outcome, Outcome::reproduced);
}

TEST(Points, AreAveragedUnlessNamed) {
  const auto only_at_two = [](const std::string& arm, int size, int seed) {
    return (arm == "a" && size == 2 ? -1.0 : 0.0) + 0.01 * seed * (arm == "a" ? 1 : -1);
  };
  MadeUpLab at_one(kLower + "at = { size = 1 }\n");
  at_one.write(only_at_two);
  EXPECT_NE(at_one.verdict().outcome, Outcome::reproduced);
  MadeUpLab at_two(kLower + "at = { size = 2 }\n");
  at_two.write(only_at_two);
  EXPECT_EQ(at_two.verdict().outcome, Outcome::reproduced);
  MadeUpLab both(kLower);
  both.write(only_at_two);
  EXPECT_THAT(both.verdict().detail, HasSubstr("mean over 2 settings"));
}

TEST(NoRuns, AreNotRun) {
  MadeUpLab lab(kLower);
  EXPECT_EQ(lab.verdict().outcome, Outcome::not_run);
}

std::string exact_rule(const std::string& condition) {
  return "[[verdict]]\nclaim = \"C\"\nsays = \"a holds\"\nexact = true\nrequire = [{ arm = \"a\", "
         "metric = \"value\", " +
         condition + " }]\n";
}

TEST(Exact, HoldsWhereEveryRunMeetsIt) {
  MadeUpLab lab(exact_rule("equals = 0"));
  lab.write([](const std::string&, int, int) { return 0.0; });
  EXPECT_EQ(lab.verdict().outcome, Outcome::by_construction);
  EXPECT_EQ(lab.verdict().n, 8);
}

TEST(Exact, IsOppositeWhereASingleRunDoesNot) {
  MadeUpLab lab(exact_rule("equals = 0"));
  lab.write(
      [](const std::string&, int size, int seed) { return size == 2 && seed == 3 ? 1e-300 : 0.0; });
  const Verdict verdict = lab.verdict();
  EXPECT_EQ(verdict.outcome, Outcome::opposite);
  EXPECT_THAT(verdict.detail, HasSubstr("a run has 1e-300"));
}

TEST(Exact, IsOppositeWhereARunGaveNoFiniteNumber) {
  MadeUpLab lab(exact_rule("equals = 0"));
  lab.write([](const std::string&, int, int seed) { return seed == 1 ? INFINITY : 0.0; });
  const Verdict verdict = lab.verdict();
  EXPECT_EQ(verdict.outcome, Outcome::opposite);
  EXPECT_THAT(verdict.detail, HasSubstr("2 runs gave no finite number"));  // at two sizes
}

TEST(Exact, BoundsAreInclusiveOrStrictAsTheirNamesSay) {
  for (const auto& [condition, holds] : {std::pair{"at_least = 1", true},
                                         {"at_most = 1", true},
                                         {"above = 1", false},
                                         {"below = 1", false},
                                         {"near = 1.5, within = 0.5", true}}) {
    MadeUpLab lab(exact_rule(condition));
    lab.write([](const std::string&, int, int) { return 1.0; });
    EXPECT_EQ(lab.verdict().outcome, holds ? Outcome::by_construction : Outcome::opposite)
        << condition;
  }
}

TEST(Value, IsJudgedByTheIntervalOverSeeds) {
  std::string rule = exact_rule("at_most = 1");
  rule.replace(rule.find("exact = true\n"), 13, "");
  const auto outcome_at = [&rule](double mean) {
    MadeUpLab lab(rule);
    lab.write(
        [mean](const std::string&, int, int seed) { return mean + (seed % 2 == 0 ? 0.1 : -0.1); });
    return lab.verdict().outcome;
  };
  EXPECT_EQ(outcome_at(0.5), Outcome::reproduced);
  EXPECT_EQ(outcome_at(0.95), Outcome::not_found);
  EXPECT_EQ(outcome_at(2), Outcome::opposite);
}

TEST(Value, IsNotFoundWhereAnIntervalReachesAcrossBothBounds) {
  std::string rule = exact_rule("near = 1, within = 0.01");
  rule.replace(rule.find("exact = true\n"), 13, "");
  MadeUpLab lab(rule);
  lab.write([](const std::string&, int, int seed) { return 1 + (seed % 2 == 0 ? 0.5 : -0.5); });
  EXPECT_EQ(lab.verdict().outcome, Outcome::not_found);
  MadeUpLab beside(rule);
  beside.write(
      [](const std::string&, int, int seed) { return 1.1 + (seed % 2 == 0 ? 0.5 : -0.5); });
  EXPECT_EQ(beside.verdict().outcome, Outcome::not_found);
}

}  // namespace
}  // namespace equinorm::lab
