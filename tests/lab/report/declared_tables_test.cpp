// Tables that a declaration asks for, filled from made-up runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "../evidence/made_up.hpp"
#include "lab/report/lab_report.hpp"

namespace equinorm::lab::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

DeclaredTable shown(const std::string& more) {
  testing::MadeUpLab lab("");
  lab.write([](const std::string& arm, int size, int seed) {
    return arm == "a" ? size + seed : 10 * size;
  });
  const Declaration declaration = parse_declaration(
      "id = \"T\"\ntitle = \"t\"\nquestion = \"q\"\n[[table]]\ntitle = \"x\"\nfrom = \"M1\"\n"
      "columns = [\"value\"]\n" +
          more,
      "T.toml");
  return declared_tables(declaration, {lab.results()}).at(0);
}

TEST(DeclaredTables, HaveARowPerArmWithIntervalAndSeeds) {
  const DeclaredTable table = shown("at = { size = 2 }\n");
  ASSERT_EQ(table.table.rows.size(), 2U);
  EXPECT_THAT(table.table.rows[0], ElementsAre("a", "3.5 \u00b1 2.05 (n\u00a0=\u00a04)"));
  EXPECT_THAT(table.table.note, HasSubstr("From M1, tier quick, size = 2."));
  EXPECT_THAT(table.csv, HasSubstr("b,value,20,20,20,4\n"));
}

TEST(DeclaredTables, AverageOverSettingsSeedBySeed) {
  EXPECT_THAT(shown("arms = [\"b\"]\n").table.rows,
              ElementsAre(ElementsAre("b", "15 \u00b1 0 (n\u00a0=\u00a04)")));
}

TEST(DeclaredTables, SayWhatTheTierLacks) {
  testing::MadeUpLab lab("[tier.quick]\narms = [\"a\"]\naxes = { size = [1] }\n");
  const auto note = [&lab](const std::string& at) {
    const Declaration declaration = parse_declaration(
        testing::declaration_text("[[table]]\ntitle = \"x\"\ncolumns = [\"value\"]\n" + at),
        "M1.toml");
    return declared_tables(declaration, {lab.results()}).at(0).table.note;
  };
  EXPECT_EQ(note("at = { size = 2 }\n"), "Not measurable here: the tier quick has no size = 2.");
  EXPECT_THAT(note(""), HasSubstr("Not in this tier: b."));
}

TEST(DeclaredTables, SayThatAFolderHasNoRuns) {
  const Declaration declaration = parse_declaration(
      "id = \"T\"\ntitle = \"t\"\nquestion = \"q\"\n[[table]]\ntitle = \"x\"\nfrom = \"M1\"\n"
      "columns = [\"value\"]\n",
      "T.toml");
  EXPECT_EQ(declared_tables(declaration, {}).at(0).table.note, "This folder has no runs of M1.");
}

}  // namespace
}  // namespace equinorm::lab::report
