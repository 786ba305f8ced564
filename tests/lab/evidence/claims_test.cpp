// The list of claims: all there, none hidden, each with an answer or the word that there is none.
#include "lab/evidence/claims.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "lab/evidence/builtin.hpp"
#include "lab/evidence/lab_folder.hpp"
#include "made_up.hpp"

namespace equinorm::lab {
namespace {

ClaimList builtin_claims() {
  const EmbeddedFile file = embedded_claims();
  return parse_claims(std::string(file.text), std::string(file.name));
}

TEST(Claims, OfAllThreeArticlesAreInTheList) {
  std::set<std::string> ids;
  for (const Claim& claim : builtin_claims().claims) ids.insert(claim.id);
  const std::pair<const char*, int> articles[] = {{"A1-", 18}, {"A2-", 28}, {"A3-", 12}};
  for (const auto& [article, count] : articles) {
    for (int i = 1; i <= count; ++i) {
      EXPECT_EQ(ids.count(article + std::to_string(i)), 1u) << article << i;
    }
  }
  EXPECT_EQ(ids.size(), 58u);
}

TEST(Claims, WithoutARunSayThatTheyWereNotRun) {
  const ClaimList list = builtin_claims();
  const std::vector<ClaimRow> rows = judge_claims(list, {});
  std::set<std::string> shown;
  for (const ClaimRow& row : rows) {
    shown.insert(row.claim);
    EXPECT_TRUE(row.verdict.outcome == Outcome::not_run || row.verdict.outcome == Outcome::note ||
                row.verdict.outcome == Outcome::not_measurable)
        << row.claim;
  }
  EXPECT_EQ(shown.size(), list.claims.size());
}

TEST(Claims, OfADeclarationOfTheUsersAreShownToo) {
  testing::MadeUpLab lab(
      "[[verdict]]\nclaim = \"mine\"\nsays = \"x\"\ncompare = [\"a\", \"b\"]\ndirection = "
      "\"lower\"\n");
  const std::vector<ClaimRow> rows = judge_claims({}, {lab.results()});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].claim, "mine");
}

TEST(Claims, NeedExactlyOneKindOfAnswer) {
  const std::string message = message_of<InputError>([] {
    static_cast<void>(
        parse_claims("[[claim]]\nid = \"A\"\nsays = \"s\"\nliterature = \"l\"\n", "claims.toml"));
  });
  EXPECT_THAT(message, ::testing::HasSubstr("claims.toml:1: claim: needs one of experiments"));
}

// A rule whose claim does not name the experiment would be found only by those who know it.
TEST(BuiltinDeclarations, AreNamedByTheClaimsThatTheyJudge) {
  const ClaimList list = builtin_claims();
  for (const Declaration& declaration : builtin_declarations()) {
    for (const VerdictRule& rule : declaration.rules) {
      for (const Claim& claim : list.claims) {
        if (claim.id != rule.claim) continue;
        EXPECT_THAT(claim.experiments, ::testing::Contains(declaration.id)) << claim.id;
      }
    }
  }
}

TEST(BuiltinDeclarations, HaveRulesAndExpectations) {
  for (const Declaration& declaration : builtin_declarations()) {
    EXPECT_FALSE(declaration.rules.empty() && declaration.tables.empty()) << declaration.id;
    EXPECT_FALSE(declaration.expected.empty()) << declaration.id;
  }
}

}  // namespace
}  // namespace equinorm::lab
