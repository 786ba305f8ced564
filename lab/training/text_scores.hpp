// Scores of translations as sacrebleu computes them with its defaults: BLEU-4 on 13a tokens with
// exponential smoothing (Papineni et al. 2002, Post 2018) and chrF of six character orders, beta 2
// (Popovic 2015). One reference per sentence, counts gathered over all sentences.
//
// The one trap: white space that Python's str.split() knows beyond ASCII separates nothing here.
#pragma once

#include <string>
#include <vector>

namespace equinorm::lab {

struct TextScores {
  double bleu = 0;  ///< 0 to 100
  double chrf = 0;  ///< 0 to 100
};

/// Both of one size, in UTF-8.
TextScores score_translations(const std::vector<std::string>& translations,
                              const std::vector<std::string>& references);

/// mteval-v13a's tokens.
std::vector<std::string> tokens_13a(const std::string& line);

}  // namespace equinorm::lab
