// The encoder-decoder on sentence pairs.
#pragma once

#include <memory>

#include "lab/data/dataset.hpp"
#include "lab/training/learner.hpp"

namespace equinorm::lab {

/// Loss and accuracy are those of the next piece, over all pieces and the end. Metrics at the end:
///
///   chrf, bleu          of greedy translations of 64 held-out sentences, 0 to 100
///   statistics_gap      held-out loss with running statistics less that with the batch's own, both
///                       without dropout; 0 for norms of rows
///   loss_to_12, loss_13_to_20, loss_21_to_32
///                       held-out loss by words of the source; length_gap: 13 to 32 less to 12
std::unique_ptr<Learner> make_translation_learner(const RunConfig& config,
                                                  std::shared_ptr<const Dataset> dataset);

}  // namespace equinorm::lab
