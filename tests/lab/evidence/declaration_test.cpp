// What a declaration may say, and what is said about one that is wrong: file, line, key, value,
// rule.
#include "lab/evidence/declaration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_up.hpp"

namespace equinorm::lab {
namespace {

using testing::declaration_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::made_up_kinds;

std::string complaint(const std::string& text) {
  return message_of<InputError>([&] { static_cast<void>(parse_declaration(text, "mine.toml")); });
}

std::string with(const std::string& old_text, const std::string& new_text) {
  std::string text = declaration_text();
  const std::size_t at = text.find(old_text);
  EXPECT_NE(at, std::string::npos) << old_text;
  return text.replace(at, old_text.size(), new_text);
}

TEST(Declaration, IsReadWithItsArmsAxesAndTiers) {
  const Declaration declaration = parse_declaration(
      declaration_text("[tier.quick]\nseeds = 2\naxes = { size = [1] }\n"), "mine.toml");
  EXPECT_EQ(declaration.id, "M1");
  EXPECT_EQ(declaration.arms.size(), 2u);
  EXPECT_EQ(declaration.axes.at(0).field, "size");
  EXPECT_THAT(declaration.axes.at(0).values, ElementsAre(Json(1), Json(2)));
  EXPECT_EQ(declaration.tiers.at("quick").seeds, 2);
  EXPECT_FALSE(declaration.tiers.at("quick").rerun_stalls);
  EXPECT_TRUE(declaration.tiers.at("standard").rerun_stalls);
}

TEST(Declaration, BrokenTomlIsNamedWithItsLine) {
  EXPECT_THAT(complaint("id = \"x\"\ntitle = \n"), HasSubstr("mine.toml:2:"));
}

TEST(Declaration, MissingAndUnknownKeysAreNamed) {
  EXPECT_EQ(complaint(with("title = \"Made up\"\n", "")), "mine.toml:1: title: is missing");
  const std::string unknown = complaint(with("seeds = 4", "seed = 4"));
  EXPECT_THAT(unknown, HasSubstr("mine.toml:5: seed = 4: is not known here"));
}

TEST(Declaration, WrongValuesAreNamedWithTheirRule) {
  EXPECT_EQ(complaint(with("seeds = 4", "seeds = 0")),
            "mine.toml:5: seeds = 0: must be a whole number from 1 to 1000");
  EXPECT_THAT(complaint(with("id = \"M1\"", "id = \"../M1\"")), HasSubstr("mine.toml:1: id = "));
  EXPECT_THAT(complaint(with("size = [1, 2]", "size = [1, 1]")),
              HasSubstr("axes.size = [ 1, 1 ]: must not name a value twice"));
  EXPECT_THAT(complaint(with("size = [1, 2]", "size = 1")), HasSubstr("must be a list of values"));
  EXPECT_THAT(complaint(with("name = \"b\"", "name = \"a\"")),
              HasSubstr("is the name of another arm"));
}

TEST(Declaration, RulesMayOnlySpeakOfArmsAndSettingsThatExist) {
  const auto rule = [](const std::string& more) {
    return declaration_text("[[verdict]]\nclaim = \"C\"\nsays = \"x\"\n" + more);
  };
  EXPECT_THAT(complaint(rule("compare = [\"a\", \"c\"]\ndirection = \"lower\"\n")),
              HasSubstr("compare = [ 'a', 'c' ]: must be two arms of a, b"));
  EXPECT_THAT(complaint(rule("compare = [\"a\", \"b\"]\n")),
              HasSubstr("direction: is missing: lower or higher, or within"));
  EXPECT_THAT(complaint(rule("compare = [\"a\", \"a\"]\ndirection = \"lower\"\n")),
              HasSubstr("must be two different arms"));
  EXPECT_THAT(complaint(rule("compare = [\"a\", \"b\"]\ndirection = \"lower\"\nwithin = 1\n")),
              HasSubstr("mine.toml:25: verdict.direction = 'lower': excludes within"));
  EXPECT_THAT(complaint(rule("compare = [\"a\", \"b\"]\ndirection = \"up\"\n")),
              HasSubstr("direction = 'up': must be one of lower, higher"));
  EXPECT_THAT(
      complaint(rule("compare = [\"a\", \"b\"]\ndirection = \"lower\"\nat = { size = 7 }\n")),
      HasSubstr("size = 7 is no value of that axis"));
  const std::string compare = "compare = [\"a\", \"b\"]\ndirection = \"lower\"\n";
  EXPECT_THAT(complaint(rule(compare + "at = { size = 1 }\nminus_at = { size = 1 }\n")),
              HasSubstr("must be another point than at"));
  EXPECT_THAT(complaint(rule(compare + "minus_compare = [\"a\", \"c\"]\n")),
              HasSubstr("minus_compare = [ 'a', 'c' ]: must be two arms of a, b"));
  EXPECT_THAT(complaint(rule(compare + "minus_compare = [\"a\", \"b\"]\n")),
              HasSubstr("must be another pair than compare"));
  EXPECT_THAT(complaint(rule("require = [{ arm = \"a\", metric = \"value\" }]\n")),
              HasSubstr("needs above, below, at_least, at_most, equals, or near and within"));
}

TEST(Declaration, TheSmokeTierIsNotDeclared) {
  EXPECT_THAT(complaint(declaration_text("[tier.smoke]\nseeds = 3\n")),
              HasSubstr("tier.smoke: follows from quick and cannot be declared"));
}

TEST(Declaration, ListsInComplaintsStandOnOneLine) {
  EXPECT_THAT(complaint("learning_rates = [1e-3, nan]\n" + declaration_text()),
              HasSubstr("mine.toml:1: learning_rates = [ 0.001, nan ]: must be a list of finite"));
}

TEST(Declaration, FiguresTakeOnlyWhatTheirKindShows) {
  const auto figure = [](const std::string& more) {
    return complaint(declaration_text("[[figure]]\ntitle = \"F\"\n" + more));
  };
  EXPECT_THAT(figure("kind = \"pie\"\n"),
              HasSubstr("figure.kind = 'pie': must be one of lines, heat_map, bars"));
  EXPECT_THAT(figure("kind = \"bars\"\nx = \"size\"\n"),
              HasSubstr("figure.x = 'size': has no place in bars"));
  EXPECT_THAT(figure("parts = [\"value\"]\n"), HasSubstr("is for kind = 'bars'"));
  EXPECT_THAT(figure("x = \"size\"\nrug = \"curve\"\n"), HasSubstr("is for lines of a series"));
  EXPECT_THAT(figure("x = \"step\"\n"), HasSubstr("figure.x = 'step': must be an axis"));
}

std::string plan_complaint(const std::string& text) {
  const Declaration declaration = parse_declaration(text, "mine.toml");
  return message_of<InputError>(
      [&] { static_cast<void>(plan_experiment(declaration, {}, made_up_kinds())); });
}

bool is_planned(const std::string& text) {
  return !plan_experiment(parse_declaration(text, "mine.toml"), {}, made_up_kinds()).empty();
}

TEST(Fields, ThatARunDoesNotTakeAreNamedWithTheirLine) {
  EXPECT_EQ(plan_complaint(with("size = [1, 2]", "size = [1, 200]")),
            "mine.toml:11: size = 200: must be a whole number from 1 to 100 (arm a)");
  EXPECT_EQ(plan_complaint(with("kind = \"b\"", "kind = \"c\"")),
            "mine.toml:19: kind = \"c\": must be one of a, b (arm b)");
  EXPECT_THAT(plan_complaint(with("kind = \"b\"", "colour = \"red\"")),
              HasSubstr("mine.toml:19: colour = \"red\": is unknown"));
  EXPECT_THAT(plan_complaint(with("measurement = \"made-up\"", "measurement = \"other\"")),
              HasSubstr("mine.toml:8: measurement = \"other\": must be one of made-up"));
}

TEST(Fields, ThatOthersOverrideEverywhereAreRefused) {
  EXPECT_EQ(complaint(with("[axes]", "size = 3\n[axes]")),
            "mine.toml:10: base.size = 3: has no effect beside the axis size");
  EXPECT_THAT(complaint(with("kind = \"b\"", "kind = \"b\"\nsize = 3")),
              HasSubstr("arm.b.size = 3: has no effect beside the axis size"));
  std::string rates = with("seeds = 4", "learning_rates = [1e-3]");
  rates.replace(rates.find("[axes]"), 6, "learning_rate = 1\n[axes]");
  EXPECT_THAT(complaint(rates), HasSubstr("base.learning_rate = 1: has no effect beside"));
}

TEST(Arms, WithTheSameRunsAreRefused) {
  EXPECT_EQ(plan_complaint(with("kind = \"b\"", "kind = \"a\"")),
            "mine.toml:18: arm.name = 'b': its runs are those of arm 'a'");
  EXPECT_THAT(plan_complaint(with("kind = \"a\"\n\n[[arm]]\nname = \"b\"\nkind = \"b\"",
                                  "kind = \"a\"\n\n[[arm]]\nname = \"b\"")),
              HasSubstr("its runs are those of arm 'a'"));  // the default
}

TEST(Metrics, ThatNoRunGivesAreNamedWithTheirLine) {
  EXPECT_EQ(plan_complaint(with("metric = \"value\"", "metric = \"valu\"")),
            "mine.toml:4: metric = 'valu': no run gives this metric; known are value. "
            "Did you mean value?");
  EXPECT_THAT(plan_complaint(with("seeds = 4", "seeds = 4\ncolumns = [\"value\", \"lss\"]")),
              HasSubstr("mine.toml:6: columns = 'lss': no run gives this metric"));
  const std::string rule = "[[verdict]]\nclaim = \"C\"\nsays = \"x\"\n";
  EXPECT_THAT(plan_complaint(declaration_text(
                  rule + "compare = [\"a\", \"b\"]\nmetric = \"lss\"\ndirection = \"lower\"\n")),
              HasSubstr("mine.toml:25: verdict.metric = 'lss'"));
  EXPECT_THAT(plan_complaint(declaration_text(
                  rule + "require = [{ arm = \"a\", metric = \"lss\", equals = 0 }]\n")),
              HasSubstr("mine.toml:24: verdict.require.metric = 'lss'"));
  EXPECT_THAT(
      plan_complaint(declaration_text("[[figure]]\ntitle = \"t\"\ny = \"value\"\n")),
      HasSubstr("mine.toml:23: figure.y = 'value': no run gives this series; known are curve"));
}

TEST(Metrics, OfATrainingRunDependOnItsTaskAndProbes) {
  const auto training = [](const std::string& metric, const std::string& base) {
    return "id = \"T\"\ntitle = \"t\"\nquestion = \"q\"\nmetric = \"" + metric + "\"\n[base]\n" +
           base + "\n[[arm]]\nname = \"a\"\n";
  };
  EXPECT_TRUE(is_planned(training("chrf", "task = \"translation\"")));
  EXPECT_THAT(plan_complaint(training("chrf", "task = \"bible\"")), HasSubstr("metric = 'chrf'"));
  EXPECT_TRUE(is_planned(training("max_logit", "probes = true")));
  EXPECT_THAT(plan_complaint(training("max_logit", "")), HasSubstr("metric = 'max_logit'"));
}

TEST(Fields, OfTrainingRunsAreCheckedAlike) {
  const auto training = [](const std::string& base) {
    return "id = \"T\"\ntitle = \"t\"\nquestion = \"q\"\nmetric = \"loss\"\n[base]\n" + base +
           "\n[[arm]]\nname = \"a\"\n";
  };
  EXPECT_THAT(plan_complaint(training("depth = 0")),
              HasSubstr("mine.toml:6: depth = 0: must be at least 1 (arm a)"));
  EXPECT_THAT(plan_complaint(training("depth = 2.5")),
              HasSubstr("mine.toml:6: depth = 2.5: must be a whole number"));
  EXPECT_EQ(plan_complaint(training("steps = 4294967300")),
            "mine.toml:6: steps = 4294967300: must be a whole number from -100000000 to 100000000 "
            "(arm a)");
  EXPECT_THAT(
      plan_complaint(training("reference_batch = 4294967300")),
      HasSubstr("mine.toml:6: reference_batch = 4294967300: must be a whole number from 1"));
  EXPECT_THAT(plan_complaint(training("reference_batch = 100000000\nbatch = 1")),
              HasSubstr("more than 100000000"));
  EXPECT_THAT(plan_complaint(training("norm = 3")), HasSubstr("norm = 3: must be a text"));
  EXPECT_THAT(plan_complaint(training("dept = 2")),
              HasSubstr("mine.toml:6: dept = 2: no field of a run has this name"));
  EXPECT_THAT(plan_complaint(training("seed = 2")), HasSubstr("no field of a run has this name"));
}

}  // namespace
}  // namespace equinorm::lab
