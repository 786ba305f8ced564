// Sentence pairs as the tensors of an encoder-decoder: padded to the longest, with masks.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "lab/data/parallel_text.hpp"
#include "lab/training/task.hpp"

namespace equinorm::lab {

struct TranslationBatch {
  at::Tensor source;       ///< ids (pairs, source tokens), each with an end
  at::Tensor source_mask;  ///< bool, the same shape, true for real tokens
  at::Tensor target;       ///< ids (pairs, target tokens), from a begin on
  at::Tensor target_mask;
  at::Tensor labels;  ///< ids (pairs * target tokens): the next token, an end at last
};

/// `reversed`: from the target's language to the source's.
TranslationBatch translation_batch(const std::vector<const SentencePair*>& pairs, bool reversed);

/// `count` of the pairs that `matches` selects, evenly over them, or all where there are fewer.
template <class Matches>
std::vector<const SentencePair*> choose_pairs(const std::vector<SentencePair>& pairs,
                                              std::size_t count, Matches&& matches) {
  std::vector<const SentencePair*> matching;
  for (const SentencePair& pair : pairs) {
    if (matches(pair)) matching.push_back(&pair);
  }
  if (matching.size() <= count) return matching;
  std::vector<const SentencePair*> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(matching[i * matching.size() / count]);
  return chosen;
}

}  // namespace equinorm::lab
