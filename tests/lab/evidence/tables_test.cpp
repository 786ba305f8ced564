// Tables of declarations: what they may name, and what is said of those that name something else.
#include "lab/evidence/tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_up.hpp"

namespace equinorm::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::made_up_kinds;

std::string tables_alone(const std::string& more) {
  return "id = \"T\"\ntitle = \"t\"\nquestion = \"q\"\n[[table]]\ntitle = \"x\"\n" + more;
}

const std::string kGood = "from = \"M1\"\ncolumns = [\"value\"]\n";

std::string complaint(const std::string& text) {
  return message_of<InputError>([&] {
    const Declaration source = parse_declaration(testing::declaration_text(), "M1.toml");
    const Declaration declaration = parse_declaration(text, "mine.toml");
    check_tables(declaration, {&source, &declaration}, made_up_kinds());
  });
}

TEST(Tables, OfOtherExperimentsNeedNoRunsOfTheirOwn) {
  const Declaration declaration = parse_declaration(tables_alone(kGood), "mine.toml");
  EXPECT_THAT(sources_of(declaration), ElementsAre("M1"));
  EXPECT_TRUE(plan_experiment(declaration, {}, made_up_kinds()).empty());
  const Declaration source = parse_declaration(testing::declaration_text(), "M1.toml");
  EXPECT_NO_THROW(check_tables(declaration, {&source}, made_up_kinds()));
}

TEST(Tables, MayOnlyNameWhatTheirExperimentHas) {
  EXPECT_EQ(complaint(tables_alone("columns = [\"value\"]\n")),
            "mine.toml:4: table.from: is missing: without [[arm]] tables show the runs of other "
            "experiments");
  EXPECT_THAT(complaint(tables_alone("from = \"M2\"\ncolumns = [\"value\"]\n")),
              HasSubstr("mine.toml:6: table.from = 'M2': must be an experiment with runs"));
  EXPECT_THAT(complaint(tables_alone("from = \"T\"\ncolumns = [\"value\"]\n")),
              HasSubstr("table.from = 'T': must be an experiment with runs"));
  EXPECT_EQ(complaint(tables_alone("from = \"M1\"\ncolumns = [\"lss\"]\n")),
            "mine.toml:7: table.columns = 'lss': must be of value");
  EXPECT_EQ(complaint(tables_alone(kGood + "arms = [\"c\"]\n")),
            "mine.toml:8: table.arms = 'c': must be of a, b");
  EXPECT_EQ(complaint(tables_alone(kGood + "at = { size = 7 }\n")),
            "mine.toml:8: table.at = size = 7: size = 7 is no value of that axis");
  EXPECT_THAT(complaint(tables_alone("from = \"M1\"\n")), HasSubstr("table.columns: is missing"));
}

TEST(Tables, OfOwnRunsAreCheckedAlike) {
  EXPECT_EQ(complaint(testing::declaration_text("[[table]]\ntitle = \"x\"\ncolumns = [\"lss\"]\n")),
            "mine.toml:23: table.columns = 'lss': must be of value");
}

TEST(Tables, StandAloneOnlyWithoutSettingsOfRuns) {
  EXPECT_THAT(complaint("seeds = 3\n" + tables_alone(kGood)),
              HasSubstr("mine.toml:1: seeds = 3: is not known here"));
}

}  // namespace
}  // namespace equinorm::lab
