#include "lab/training/translation_learner.hpp"

#include <ATen/core/Reduction.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "lab/error.hpp"
#include "lab/models/encoder_decoder.hpp"
#include "lab/training/cross_entropy.hpp"
#include "lab/training/greedy.hpp"
#include "lab/training/shuffled_order.hpp"
#include "lab/training/text_scores.hpp"
#include "lab/training/translation_batch.hpp"

namespace equinorm::lab {
namespace {

constexpr std::size_t kEvaluationPairs = 256;
constexpr std::size_t kPairsByLength = 128;
constexpr std::size_t kTranslated = 64;
constexpr std::size_t kEvaluationBatch = 32;

using Pairs = std::vector<const SentencePair*>;

// Pairs with so many words in their source; to = 0: no limit.
auto within(int from, int to) {
  return [from, to](const SentencePair& pair) {
    return pair.words >= from && (to == 0 || pair.words <= to);
  };
}

std::int64_t longest(const ParallelText& text) {
  std::size_t most = 0;
  for (const auto* pairs : {&text.train, &text.held_out}) {
    for (const SentencePair& pair : *pairs) {
      most = std::max({most, pair.source_pieces.size(), pair.target_pieces.size()});
    }
  }
  return static_cast<std::int64_t>(most) + 1;
}

EncoderDecoderOptions model_options(const RunConfig& config, const ParallelText& text) {
  const bool reversed = config.direction == "backward";
  const auto source =
      static_cast<std::int64_t>((reversed ? text.target_pieces : text.source_pieces).size());
  const auto target =
      static_cast<std::int64_t>((reversed ? text.source_pieces : text.target_pieces).size());
  EncoderDecoderOptions options;
  options.norm = config.norm;
  options.placement = config.placement;
  options.qk_norm = config.qk_norm;
  options.encoder_depth = options.decoder_depth = config.depth;
  options.width = config.width;
  options.heads = config.heads;
  options.ffn = config.ffn;
  options.dropout = config.dropout;
  options.norms_count_padding = config.padding == "counts";
  options.source = {source, 0, longest(text)};
  options.target = {target, 0, longest(text)};
  options.outputs = target;
  options.seed = derive_seed(config.seed, "weights");
  return options;
}

class TranslationLearner final : public Learner {
 public:
  TranslationLearner(const RunConfig& config, std::shared_ptr<const Dataset> dataset)
      : config_(config),
        reversed_(config.direction == "backward"),
        dataset_(std::move(dataset)),
        text_(std::get<ParallelText>(dataset_->content)),
        training_(choose_pairs(text_.train, text_.train.size(), within(0, config.max_words))),
        held_out_(choose_pairs(text_.held_out, kEvaluationPairs, within(0, config.max_words))),
        order_(training_.size(), derive_seed(config.seed, "order")),
        model_(model_options(config, text_)) {
    if (training_.empty() || held_out_.empty()) {
      throw InputError(dataset_->name + " has no " + (training_.empty() ? "training" : "held-out") +
                       " pair of at most " + std::to_string(config.max_words) + " words");
    }
    plateau_ = frequency_plateau();
  }

  void prepare() override {
    first_ = draw();
    model_.profile(first_.source, first_.target, first_.source_mask, first_.target_mask);
  }

  at::Tensor loss(int step, const ForwardContext& context) override {
    const TranslationBatch batch = step == 1 ? first_ : draw();
    return cross_entropy(logits(batch, context), batch.labels, context);
  }

  Evaluation evaluate() override { return evaluate_on(held_out_, {}); }

  [[nodiscard]] const std::vector<Parameter>& parameters() const override {
    return model_.parameters();
  }
  [[nodiscard]] double plateau() const override { return plateau_; }
  [[nodiscard]] bool reached(const Evaluation& evaluation, double target) const override {
    return evaluation.loss <= target;
  }
  [[nodiscard]] int layers() const override { return 2 * config_.depth; }
  [[nodiscard]] std::int64_t tokens_per_step() const override {
    double pieces = 0;
    for (const SentencePair* pair : training_) {
      pieces += static_cast<double>(pair->source_pieces.size() + pair->target_pieces.size() + 2);
    }
    return static_cast<std::int64_t>(config_.batch * pieces /
                                     static_cast<double>(training_.size()));
  }

  at::Tensor probe_outputs() override {
    const at::NoGradGuard no_grad;
    return logits(batch_of(held_out_, 0), {});
  }

  std::map<std::string, double> final_metrics() override {
    const at::NoGradGuard no_grad;
    std::map<std::string, double> metrics;
    const auto held_out_loss = [&](int from, int to) {
      const Pairs pairs = choose_pairs(text_.held_out, kPairsByLength, within(from, to));
      return pairs.empty() ? kNone : evaluate_on(pairs, {}).loss;
    };
    metrics["loss_to_12"] = held_out_loss(0, 12);
    metrics["loss_13_to_20"] = held_out_loss(13, 20);
    metrics["loss_21_to_32"] = held_out_loss(21, 32);
    metrics["length_gap"] = held_out_loss(13, 32) - metrics["loss_to_12"];
    translate(metrics);
    // Last, as it moves the running averages.
    const double running = evaluate_on(held_out_, {}).loss;
    ForwardContext context;
    context.training = true;
    context.dropout = false;
    metrics["statistics_gap"] = running - evaluate_on(held_out_, context).loss;
    std::erase_if(metrics, [](const auto& metric) { return metric.second != metric.second; });
    return metrics;
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  TranslationBatch draw() {
    Pairs pairs;
    for (int i = 0; i < config_.batch; ++i) pairs.push_back(training_[order_.next()]);
    return translation_batch(pairs, reversed_);
  }

  [[nodiscard]] TranslationBatch batch_of(const Pairs& pairs, std::size_t first) const {
    const auto begin = pairs.begin() + static_cast<std::ptrdiff_t>(first);
    const std::size_t count = std::min(kEvaluationBatch, pairs.size() - first);
    return translation_batch({begin, begin + static_cast<std::ptrdiff_t>(count)}, reversed_);
  }

  [[nodiscard]] at::Tensor logits(const TranslationBatch& batch,
                                  const ForwardContext& context) const {
    return model_.forward(batch.source, batch.target, context, batch.source_mask,
                          batch.target_mask);
  }

  [[nodiscard]] Evaluation evaluate_on(const Pairs& pairs, const ForwardContext& context) const {
    const at::NoGradGuard no_grad;
    double loss = 0;
    double right = 0;
    double count = 0;
    for (std::size_t first = 0; first < pairs.size(); first += kEvaluationBatch) {
      const TranslationBatch batch = batch_of(pairs, first);
      const at::Tensor scores = logits(batch, context);
      loss += at::cross_entropy_loss(scores, batch.labels, {}, at::Reduction::Sum, kNoTarget)
                  .item<double>();
      right += scores.argmax(1).eq(batch.labels).sum().item<double>();
      count += batch.labels.ne(kNoTarget).sum().item<double>();
    }
    return {loss / count, right / count};
  }

  void translate(std::map<std::string, double>& metrics) const {
    const Pairs pairs(held_out_.begin(), held_out_.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                 kTranslated, held_out_.size())));
    const BytePairs& pieces = reversed_ ? text_.source_pieces : text_.target_pieces;
    std::vector<std::string> translations;
    std::vector<std::string> references;
    for (std::size_t first = 0; first < pairs.size(); first += kEvaluationBatch) {
      for (const auto& found : translate_greedily(model_, batch_of(pairs, first))) {
        translations.push_back(pieces.decode(found));
      }
    }
    for (const SentencePair* pair : pairs) {
      references.push_back(reversed_ ? pair->source : pair->target);
    }
    const TextScores scores = score_translations(translations, references);
    metrics["chrf"] = scores.chrf;
    metrics["bleu"] = scores.bleu;
  }

  [[nodiscard]] double frequency_plateau() const;

  RunConfig config_;
  bool reversed_;
  std::shared_ptr<const Dataset> dataset_;
  const ParallelText& text_;
  Pairs training_;
  Pairs held_out_;
  ShuffledOrder order_;
  EncoderDecoder model_;
  TranslationBatch first_;
  double plateau_ = 0;
};

// Of the pieces behind one another, ends included, under their frequencies in training.
double TranslationLearner::frequency_plateau() const {
  std::vector<double> counts(static_cast<std::size_t>(model_.options().outputs), 1);
  const auto visit = [&](const Pairs& pairs, auto&& see) {
    for (const SentencePair* pair : pairs) {
      for (const PieceId piece : reversed_ ? pair->source_pieces : pair->target_pieces) see(piece);
      see(kEndPiece);
    }
  };
  visit(training_, [&](PieceId piece) { counts[piece] += 1; });
  double total = 0;
  for (const double count : counts) total += count;
  double loss = 0;
  double seen = 0;
  visit(held_out_, [&](PieceId piece) {
    loss -= std::log(counts[piece] / total);
    seen += 1;
  });
  return loss / seen;
}

}  // namespace

std::unique_ptr<Learner> make_translation_learner(const RunConfig& config,
                                                  std::shared_ptr<const Dataset> dataset) {
  return std::make_unique<TranslationLearner>(config, std::move(dataset));
}

}  // namespace equinorm::lab
