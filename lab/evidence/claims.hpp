// The claims of the three articles, and each with its verdict, or the word that there is none yet.
#pragma once

#include <string>
#include <vector>

#include "lab/evidence/results.hpp"
#include "lab/evidence/verdict.hpp"

namespace equinorm::lab {

struct Claim {
  std::string id;          ///< "A1-7"
  std::string says;        ///< in a few words of ours
  std::string literature;  ///< what is known
  std::vector<std::string> experiments;
  std::string note;            ///< why it is not for an experiment
  std::string not_measurable;  ///< why it cannot be measured here
};

/// Claims that say different things about one question.
struct Contradiction {
  std::vector<std::string> claims;
  std::string text;
};

struct ClaimList {
  std::vector<Claim> claims;
  std::vector<Contradiction> contradictions;
};

/// Throws InputError "file:line: key = value: rule".
[[nodiscard]] ClaimList parse_claims(const std::string& text, const std::string& file);

/// A claim with what one rule, or none, says about it.
struct ClaimRow {
  std::string claim;   ///< id
  std::string says;    ///< the claim
  std::string tested;  ///< what exactly was judged; empty without a rule
  std::string literature;
  std::string experiment;  ///< id, or empty
  Verdict verdict;
};

/// Every claim of the list in its order, at least one row each; then claims that only a declaration
/// of the user knows.
[[nodiscard]] std::vector<ClaimRow> judge_claims(const ClaimList& list,
                                                 const std::vector<ExperimentResults>& results);

}  // namespace equinorm::lab
