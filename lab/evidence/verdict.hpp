// What the runs say about a claim. The rule is data and older than the runs; this is its
// arithmetic.
//
// The one trap: the sign of `size` is the claim's. A positive size means what was claimed.
#pragma once

#include <string>

#include "lab/evidence/declaration.hpp"
#include "lab/evidence/results.hpp"
#include "lab/experiment/statistics.hpp"

namespace equinorm::lab {

enum class Outcome {
  reproduced,
  opposite,
  not_found,
  by_construction,  ///< an exact test, met by every run
  not_measurable,
  note,
  not_run,
};

/// "reproduced", "opposite", "not found", "true by construction", "not measurable here", "note",
/// "not run".
[[nodiscard]] const char* name_of(Outcome outcome);

struct Verdict {
  Outcome outcome = Outcome::not_run;
  std::string number;  ///< "-0.054 +- 0.012 nats"
  int n = 0;
  std::string detail;  ///< what the outcome rests on, in a sentence
};

[[nodiscard]] Verdict judge(const VerdictRule& rule, const ExperimentResults& results);

}  // namespace equinorm::lab
