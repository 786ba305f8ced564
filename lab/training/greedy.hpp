// Greedy translation: the likeliest piece at every step, with the keys and values of the pieces so
// far in a cache.
#pragma once

#include <vector>

#include "lab/data/byte_pairs.hpp"
#include "lab/models/encoder_decoder.hpp"
#include "lab/training/translation_batch.hpp"

namespace equinorm::lab {

/// For each sentence of the batch the pieces before the end, which comes after twice the pieces of
/// the longest source and ten at last. Looks at `source` and `source_mask` alone.
std::vector<std::vector<PieceId>> translate_greedily(const EncoderDecoder& model,
                                                     const TranslationBatch& batch);

}  // namespace equinorm::lab
