// Batches of sentence pairs, greedy translation, and what padding does to norms over a batch.
#include "lab/training/translation_batch.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "lab/training/greedy.hpp"

namespace equinorm::lab {
namespace {

SentencePair pair(std::vector<PieceId> source, std::vector<PieceId> target) {
  SentencePair made;
  made.source_pieces = std::move(source);
  made.target_pieces = std::move(target);
  return made;
}

EncoderDecoder small_model(const std::string& norm, bool counts) {
  EncoderDecoderOptions options;
  options.norm = norm;
  options.norms_count_padding = counts;
  options.encoder_depth = options.decoder_depth = 1;
  options.width = 8;
  options.heads = 2;
  options.ffn = 8;
  options.source = {12, 0, 20};
  options.target = {12, 0, 20};
  options.outputs = 12;
  options.seed = 4;
  return EncoderDecoder(options);
}

const SentencePair kShort = pair({4, 5}, {6});
const SentencePair kLong = pair({7, 8, 9, 10}, {11, 4, 5});

at::Tensor rows(const std::vector<std::vector<std::int64_t>>& values) {
  std::vector<at::Tensor> tensors;
  for (const auto& row : values) tensors.push_back(torch::tensor(row));
  return at::stack(tensors);
}

TEST(TranslationBatch, ShiftsTheTargetAndPadsBehindTheEnd) {
  const TranslationBatch batch = translation_batch({&kShort, &kLong}, false);
  EXPECT_TRUE(at::equal(batch.source, rows({{4, 5, 2, 0, 0}, {7, 8, 9, 10, 2}})));
  EXPECT_TRUE(at::equal(batch.target, rows({{1, 6, 0, 0}, {1, 11, 4, 5}})));
  EXPECT_TRUE(
      at::equal(batch.labels, rows({{6, 2, kNoTarget, kNoTarget}, {11, 4, 5, 2}}).flatten()));
  EXPECT_TRUE(at::equal(batch.source_mask, batch.source.ne(0)));
  EXPECT_TRUE(at::equal(batch.target_mask, batch.target.ne(0)));
}

TEST(TranslationBatch, SwapsTheLanguagesWhereReversed) {
  const TranslationBatch batch = translation_batch({&kShort}, true);
  EXPECT_TRUE(at::equal(batch.source, rows({{6, 2}})));
  EXPECT_TRUE(at::equal(batch.target, rows({{1, 4, 5}})));
}

TEST(ChoosePairs, TakesThemEvenly) {
  const std::vector<SentencePair> pairs(10, kShort);
  const auto chosen = choose_pairs(pairs, 3, [](const SentencePair&) { return true; });
  ASSERT_EQ(chosen.size(), 3U);
  EXPECT_EQ(chosen[1] - pairs.data(), 3);
  EXPECT_EQ(chosen[2] - pairs.data(), 6);
}

// Scores of the short pair alone and beside the long one, whose padding it then has.
std::pair<at::Tensor, at::Tensor> alone_and_padded(const EncoderDecoder& model, bool training) {
  const at::NoGradGuard no_grad;
  ForwardContext context;
  context.training = training;
  const auto scores = [&](const std::vector<const SentencePair*>& pairs) {
    const TranslationBatch batch = translation_batch(pairs, false);
    return model.forward(batch.source, batch.target, context, batch.source_mask, batch.target_mask)
        .slice(0, 0, 2);
  };
  return {scores({&kShort}), scores({&kShort, &kLong})};
}

TEST(Translation, DoesNotSeePaddingWithNormsOfRows) {
  for (const char* norm : {"none", "layer", "rms"}) {
    const auto [alone, padded] = alone_and_padded(small_model(norm, true), true);
    EXPECT_LT((alone - padded).abs().max().item<double>(), 1e-5) << norm;
  }
}

TEST(Translation, CountsPaddingInBatchStatisticsOnlyWhereAsked) {
  const at::NoGradGuard no_grad;
  ForwardContext context;
  context.training = true;
  // More padding behind the same real tokens.
  const auto change = [&](bool counts) {
    const EncoderDecoder model = small_model("batch", counts);
    TranslationBatch batch = translation_batch({&kShort, &kLong}, false);
    const auto scores = [&] {
      return model
          .forward(batch.source, batch.target, context, batch.source_mask, batch.target_mask)
          .slice(0, 0, 2);
    };
    const at::Tensor before = scores();
    batch.source = at::cat({batch.source, at::zeros({2, 3}, at::kLong)}, 1);
    batch.source_mask = batch.source.ne(0);
    return (scores() - before).abs().max().item<double>();
  };
  EXPECT_LT(change(false), 1e-5);
  EXPECT_GT(change(true), 1e-3);
}

TEST(Greedy, TakesTheLikeliestPieceOfTheWholeModelEveryTime) {
  const at::NoGradGuard no_grad;
  const EncoderDecoder model = small_model("layer", false);
  const TranslationBatch batch = translation_batch({&kShort, &kLong}, false);
  const auto found = translate_greedily(model, batch);
  ASSERT_EQ(found.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<std::int64_t> target = {kBeginPiece};
    for (std::size_t step = 0; step <= found[i].size(); ++step) {
      const auto row = static_cast<std::int64_t>(i);
      const at::Tensor scores = model.forward(batch.source.slice(0, row, row + 1),
                                              torch::tensor(target, at::kLong).unsqueeze(0), {},
                                              batch.source_mask.slice(0, row, row + 1));
      const auto likeliest = scores.select(0, -1).argmax().item<std::int64_t>();
      if (step == found[i].size()) {
        // An end, or as many pieces as there may be.
        EXPECT_TRUE(likeliest == kEndPiece || found[i].size() == 19U);
        break;
      }
      EXPECT_EQ(likeliest, found[i][step]);
      target.push_back(likeliest);
    }
  }
}

}  // namespace
}  // namespace equinorm::lab
