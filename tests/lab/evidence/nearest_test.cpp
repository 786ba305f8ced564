// What is suggested for a misspelt name, and when nothing is.
#include "lab/nearest.hpp"

#include <gtest/gtest.h>

namespace equinorm::lab {
namespace {

TEST(Nearest, IsTheNameWithTheFewestEditsOrOneThatBeginsLikeIt) {
  EXPECT_EQ(nearest("leyer", {"none", "batch", "layer", "rms"}), "layer");
  EXPECT_EQ(nearest("sand", {"pre", "sandwich"}), "sandwich");
  EXPECT_EQ(nearest("e20", {"E1", "E20"}), "E20");
}

TEST(Nearest, IsNothingForAWordThatResemblesNone) {
  EXPECT_EQ(nearest("cosine", {"none", "rms"}), "");
  EXPECT_EQ(nearest("c", {"a", "b"}), "");
  EXPECT_EQ(nearest("", {"a", "b"}), "");
}

TEST(OneOf, ListsTheNamesAndSaysWhichWasMeant) {
  EXPECT_EQ(one_of("must be one of", "psot", {"pre", "post"}),
            "must be one of pre, post. Did you mean post?");
  EXPECT_EQ(one_of("must be one of", "middle", {"pre", "post"}), "must be one of pre, post");
}

}  // namespace
}  // namespace equinorm::lab
