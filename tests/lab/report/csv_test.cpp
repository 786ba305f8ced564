// CSV text and its data URI.
#include "lab/report/csv.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

namespace equinorm::lab::report {
namespace {

TEST(Csv, QuotesFieldsThatHoldSeparatorsQuotesOrLineEnds) {
  Csv csv({"a", "b"});
  csv.add({"1,5", "say \"x\"\ny"});
  EXPECT_EQ(csv.text(), "a,b\n\"1,5\",\"say \"\"x\"\"\ny\"\n");
}

TEST(Csv, NumbersRoundTripAndMissingOnesAreEmpty) {
  for (const double value : {0.1, 1.0 / 3, 1e-300, -123456789.123456789}) {
    EXPECT_EQ(std::strtod(csv_number(value).c_str(), nullptr), value);
  }
  EXPECT_EQ(csv_number(std::nan("")), "");
}

TEST(DataUri, HoldsNothingThatEndsAnAttributeOrAUri) {
  const std::string uri = data_uri("a,b\n\"1 #2\",<3>&'%'\n");
  EXPECT_EQ(uri.rfind("data:text/csv;charset=utf-8,", 0), 0U);
  EXPECT_EQ(uri.find_first_of("\"'<>&# \n"), std::string::npos);
  EXPECT_NE(uri.find("%23"), std::string::npos);
  EXPECT_NE(uri.find("%25"), std::string::npos);
}

}  // namespace
}  // namespace equinorm::lab::report
