#include "lab/training/translation_batch.hpp"

#include <ATen/ops/full.h>

#include <algorithm>

namespace equinorm::lab {
namespace {

// Rows of ids with `padding` behind them.
at::Tensor padded(const std::vector<std::vector<std::int64_t>>& rows, std::int64_t padding) {
  std::size_t longest = 0;
  for (const auto& row : rows) longest = std::max(longest, row.size());
  const auto columns = static_cast<std::int64_t>(longest);
  at::Tensor ids = at::full({static_cast<std::int64_t>(rows.size()), columns}, padding, at::kLong);
  auto* out = ids.mutable_data_ptr<std::int64_t>();
  for (const auto& row : rows) {
    std::copy(row.begin(), row.end(), out);
    out += columns;
  }
  return ids;
}

std::vector<std::int64_t> sequence(const std::vector<PieceId>& pieces, bool begins, bool ends) {
  std::vector<std::int64_t> ids;
  if (begins) ids.push_back(kBeginPiece);
  ids.insert(ids.end(), pieces.begin(), pieces.end());
  if (ends) ids.push_back(kEndPiece);
  return ids;
}

}  // namespace

TranslationBatch translation_batch(const std::vector<const SentencePair*>& pairs, bool reversed) {
  std::vector<std::vector<std::int64_t>> source;
  std::vector<std::vector<std::int64_t>> target;
  std::vector<std::vector<std::int64_t>> labels;
  for (const SentencePair* pair : pairs) {
    const auto& from = reversed ? pair->target_pieces : pair->source_pieces;
    const auto& to = reversed ? pair->source_pieces : pair->target_pieces;
    source.push_back(sequence(from, false, true));
    target.push_back(sequence(to, true, false));
    labels.push_back(sequence(to, false, true));
  }
  TranslationBatch batch;
  batch.source = padded(source, kPaddingPiece);
  batch.source_mask = batch.source.ne(kPaddingPiece);
  batch.target = padded(target, kPaddingPiece);
  batch.target_mask = batch.target.ne(kPaddingPiece);
  batch.labels = padded(labels, kNoTarget).flatten();
  return batch;
}

}  // namespace equinorm::lab
