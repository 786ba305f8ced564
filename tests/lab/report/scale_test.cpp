// Scales and ticks of the report's plots.
#include "lab/report/scale.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace equinorm::lab::report {
namespace {

std::vector<std::string> labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> result;
  for (const Tick& tick : ticks) {
    result.push_back(tick.exponent.empty() ? tick.label : tick.label + "^" + tick.exponent);
  }
  return result;
}

using Labels = std::vector<std::string>;

TEST(Range, LeavesOutNaNAndInfinities) {
  Range range;
  range.include(std::nan(""));
  range.include(std::numeric_limits<double>::infinity());
  EXPECT_TRUE(range.empty());
  range.include(-2);
  range.include(5);
  EXPECT_EQ(range.low, -2);
  EXPECT_EQ(range.high, 5);
}

TEST(Scale, MapsTheEndsOfALinearRangeToTheEndsOfTheAxis) {
  const Scale scale({10, 30, true}, false, 100, 300);
  EXPECT_DOUBLE_EQ(scale(10), 100);
  EXPECT_DOUBLE_EQ(scale(30), 300);
  EXPECT_DOUBLE_EQ(scale(15), 150);
}

TEST(Scale, MapsEqualFactorsToEqualDistancesOnALogAxis) {
  const Scale scale({1e-4, 1e4, true}, true, 0, 80);
  for (int decade = 0; decade <= 8; ++decade) {
    // Two logarithms and a quotient, each within one rounding: a few units of 2^-52 of 80.
    EXPECT_NEAR(scale(std::pow(10.0, decade - 4)), 10.0 * decade, 80 * 8 * 0x1p-52);
  }
}

TEST(Scale, RunsBackwardsForAxesThatGrowUpwards) {
  const Scale scale({0, 1, true}, false, 200, 40);
  EXPECT_DOUBLE_EQ(scale(0), 200);
  EXPECT_DOUBLE_EQ(scale(1), 40);
}

TEST(Ticks, LinearTicksAreRoundNumbersInsideTheRange) {
  EXPECT_EQ(labels(Scale({0, 300, true}, false, 0, 1).ticks(6)),
            (Labels{"0", "50", "100", "150", "200", "250", "300"}));
  EXPECT_EQ(labels(Scale({0.42, 0.55, true}, false, 0, 1).ticks(3)),
            (Labels{"0.45", "0.50", "0.55"}));
  EXPECT_EQ(labels(Scale({-1, 1, true}, false, 0, 1).ticks(2)), (Labels{"-1", "0", "1"}));
}

TEST(Ticks, AFewDecadesAreWrittenPlainly) {
  EXPECT_EQ(labels(Scale({0.001, 100, true}, true, 0, 1).ticks(7)),
            (Labels{"0.001", "0.01", "0.1", "1", "10", "100"}));
}

TEST(Ticks, ManyDecadesAreThinnedAndKeepOne) {
  const Labels found = labels(Scale({1e-38, 1e37, true}, true, 0, 1).ticks(8));
  EXPECT_EQ(found, (Labels{"10^-30", "10^-20", "10^-10", "10^0", "10^10", "10^20", "10^30"}));
}

TEST(Ticks, LessThanADecadeStillHasTicks) {
  EXPECT_EQ(labels(Scale({1.5, 8, true}, true, 0, 1).ticks(6)), (Labels{"2", "5"}));
}

TEST(Ticks, AllLieInsideTheRangeInIncreasingOrder) {
  for (const bool log : {false, true}) {
    for (double low = 1e-9; low < 1e9; low *= 7.3) {
      for (const double factor : {1.01, 3.0, 250.0, 1e7}) {
        const Range range{low, low * factor, true};
        double last = -1;
        for (const Tick& tick : Scale(range, log, 0, 1).ticks(6)) {
          EXPECT_GT(tick.value, last);
          EXPECT_GE(tick.value, range.low * (1 - 1e-8));
          EXPECT_LE(tick.value, range.high * (1 + 1e-8));
          last = tick.value;
        }
      }
    }
  }
}

TEST(Ticks, LearningRatesAreWrittenShortly) {
  const double rates[] = {3e-4, 1e-3, 0.01, 2.5e-5};
  EXPECT_EQ(labels(ticks_at(rates)), (Labels{"3e-4", "1e-3", "0.01", "2.5e-5"}));
}

TEST(Rounded, GivesRoomAroundASingleValue) {
  const Range range = rounded({5, 5, true}, false);
  EXPECT_LT(range.low, 5);
  EXPECT_GT(range.high, 5);
  const Range log = rounded({10, 10, true}, true);
  EXPECT_LE(log.low, 10);
  EXPECT_GT(log.high, log.low);
}

TEST(Rounded, CoversWhatItWasGiven) {
  for (double low = -1e5; low < 1e5; low += 7777.7) {
    const Range range = rounded({low, low + 123.4, true}, false);
    EXPECT_LE(range.low, low);
    EXPECT_GE(range.high, low + 123.4);
  }
  for (double low = 1e-30; low < 1e30; low *= 31) {
    const Range range = rounded({low, low * 50, true}, true);
    EXPECT_LE(range.low, low);
    EXPECT_GE(range.high * (1 + 1e-9), low * 50);  // 1, 2, 5 times a power of ten, to rounding
  }
}

TEST(Rounded, AnEmptyOrUnusableRangeBecomesADrawableOne) {
  EXPECT_LT(rounded({}, false).low, rounded({}, false).high);
  EXPECT_GT(rounded({}, true).low, 0);
  EXPECT_GT(rounded({-3, 0, true}, true).low, 0);
  EXPECT_GT(rounded({0, 10, true}, true).low, 0);
}

}  // namespace
}  // namespace equinorm::lab::report
