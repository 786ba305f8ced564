// Declarations in JSON mean what those in TOML mean.
#include "lab/evidence/json_declaration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "lab/evidence/lab_folder.hpp"
#include "made_up.hpp"

namespace equinorm::lab {
namespace {

using ::testing::HasSubstr;

constexpr const char* kRule = R"([[verdict]]
claim = "C"
says = "x"
require = [{ arm = "a", metric = "value", at = { size = 2 }, above = 0 }]
exact = true
)";

/// The made-up declaration with a title to be escaped and a number with every digit.
std::string toml_text() {
  std::string text = testing::declaration_text(kRule);
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"Made up", R"(Made \"up\"\nin two lines)"},
        {"\"made-up\"\n", "\"made-up\"\neps = 0.30000000000000004\n"}}) {
    text.replace(text.find(from), from.size(), to);
  }
  return text;
}

constexpr const char* kJson = R"({
 "id": "M1", "title": "Made \"up\"\nin two lines", "question": "Is a below b?", "metric": "value",
 "seeds": 4,
 "base": {"measurement": "made-up", "eps": 0.30000000000000004},
 "axes": {"size": [1, 2]},
 "arm": [{"name": "a", "kind": "a"}, {"name": "b", "kind": "b"}],
 "verdict": [{"claim": "C", "says": "x", "exact": true,
              "require": [{"arm": "a", "metric": "value", "at": {"size": 2}, "above": 0}]}]
})";

Declaration declared_in_json(const std::string& text) {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "mine.json";
  write_atomically(file, text);
  return find_declaration(file.string());
}

std::string complaint(std::string from, const std::string& to) {
  std::string text = kJson;
  text.replace(text.find(from), from.size(), to);
  return message_of<InputError>([&] {
    const Declaration declaration = declared_in_json(text);
    static_cast<void>(plan_experiment(declaration, {}, testing::made_up_kinds()));
  });
}

TEST(JsonDeclaration, AsksForTheSameRunsAndRules) {
  const Declaration json = declared_in_json(kJson);
  const Declaration toml = parse_declaration(toml_text(), "M1.toml");
  EXPECT_EQ(json.title, toml.title);
  EXPECT_EQ(json.rules.at(0).kind, RuleKind::exact);
  EXPECT_EQ(json.rules.at(0).require.at(0).at, toml.rules.at(0).require.at(0).at);
  const auto runs = [](const Declaration& declaration) {
    std::vector<std::string> configs;
    for (const PlannedRun& run : plan_experiment(declaration, {}, testing::made_up_kinds())) {
      configs.push_back(run.arm + " " + run.job.config);
    }
    return configs;
  };
  EXPECT_EQ(runs(json), runs(toml));
}

TEST(JsonDeclaration, IsKeptAsTomlThatReadsTheSame) {
  const Declaration json = declared_in_json(kJson);
  const Declaration again = parse_declaration(json.source, "M1.toml");
  EXPECT_EQ(again.source, json.source);
  EXPECT_EQ(again.base, json.base);
}

TEST(JsonDeclaration, MistakesAreNamedWithoutALine) {
  EXPECT_THAT(complaint("[1, 2]", "[1, null]"), HasSubstr("mine.json: axes.size = null: must be"));
  EXPECT_THAT(complaint("[1, 2]", "[1, 10000000000000000000]"),
              HasSubstr("axes.size = 10000000000000000000: must be at most 2^63 - 1"));
  EXPECT_THAT(complaint("\"value\"", "\"vlue\""), HasSubstr("mine.json: metric = 'vlue': no run"));
  EXPECT_THAT(complaint("0.30000000000000004", "2"), HasSubstr("mine.json: eps = 2"));
  EXPECT_THAT(complaint("\"seeds\": 4", "\"seeds\": 0"), HasSubstr("mine.json: seeds = 0: must"));
  EXPECT_THAT(complaint("}]\n}", "}]"), HasSubstr("mine.json: "));
  EXPECT_THAT(message_of<InputError>([] { static_cast<void>(toml_of_json("[]", "mine.json")); }),
              HasSubstr("mine.json: must be a JSON object"));
}

}  // namespace
}  // namespace equinorm::lab
