#include "lab/training/greedy.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>

#include <algorithm>

namespace equinorm::lab {

std::vector<std::vector<PieceId>> translate_greedily(const EncoderDecoder& model,
                                                     const TranslationBatch& batch) {
  const at::NoGradGuard no_grad;
  const std::int64_t sentences = batch.source.size(0);
  const std::int64_t most =
      std::min(2 * batch.source.size(1) + 10, model.options().target.tokens - 1);
  const Memory memory = model.encode(batch.source, {}, batch.source_mask);
  DecodingState state;
  std::vector<std::vector<PieceId>> found(static_cast<std::size_t>(sentences));
  std::vector<bool> ended(static_cast<std::size_t>(sentences), false);
  at::Tensor next = at::full({sentences, 1}, std::int64_t{kBeginPiece}, at::kLong);
  for (std::int64_t step = 0; step < most; ++step) {
    next = model.step(memory, next, state).argmax(1, true);
    const auto* pieces = next.const_data_ptr<std::int64_t>();
    for (std::size_t i = 0; i < found.size(); ++i) {
      ended[i] = ended[i] || pieces[i] == kEndPiece;
      if (!ended[i]) found[i].push_back(static_cast<PieceId>(pieces[i]));
    }
    if (std::all_of(ended.begin(), ended.end(), [](bool end) { return end; })) break;
  }
  return found;
}

}  // namespace equinorm::lab
