#include "lab/training/labelled_text_task.hpp"

#include <ATen/ops/full.h>

#include <algorithm>
#include <utility>

#include "lab/models/parameters.hpp"
#include "lab/training/shuffled_order.hpp"

namespace equinorm::lab {
namespace {

constexpr std::size_t kEvaluationBatch = 125;

class LabelledTextTask final : public Task {
 public:
  LabelledTextTask(const RunConfig& config, std::shared_ptr<const Dataset> dataset)
      : dataset_(std::move(dataset)),
        data_(std::get<LabelledTexts>(dataset_->content)),
        batch_(config.batch),
        order_(data_.train.size(), derive_seed(config.seed, "order")) {
    tokens_ = config.context;
    vocabulary_ = static_cast<std::int64_t>(data_.vocabulary);
    outputs_ = static_cast<std::int64_t>(data_.classes.size());
    prepare_evaluation();
  }

  Batch train_batch(int /*step*/) override {
    std::vector<const LabelledText*> chosen;
    for (int i = 0; i < batch_; ++i) chosen.push_back(&data_.train[order_.next()]);
    return gather(chosen);
  }

 private:
  [[nodiscard]] Batch gather(const std::vector<const LabelledText*>& chosen) const {
    const auto most = static_cast<std::size_t>(tokens_);
    std::size_t longest = 0;
    for (const LabelledText* text : chosen) {
      longest = std::max(longest, std::min(text->words.size(), most));
    }
    const auto count = static_cast<std::int64_t>(chosen.size());
    const auto columns = static_cast<std::int64_t>(longest);
    Batch batch{at::full({count, columns}, std::int64_t{kPaddingWord}, at::kLong),
                at::full({count}, 0, at::kLong)};
    auto* words = batch.input.mutable_data_ptr<std::int64_t>();
    auto* label = batch.target.mutable_data_ptr<std::int64_t>();
    for (const LabelledText* text : chosen) {
      std::copy_n(text->words.begin(), std::min(text->words.size(), most), words);
      words += columns;
      *label++ = text->label;
    }
    batch.mask = batch.input.ne(kPaddingWord);
    return batch;
  }

  void prepare_evaluation() {
    const std::size_t count = std::min(kEvaluationTexts, data_.test.size());
    std::vector<std::uint8_t> labels;
    std::vector<const LabelledText*> chosen;
    for (std::size_t i = 0; i < count; ++i) {
      chosen.push_back(&data_.test[i * data_.test.size() / count]);
      labels.push_back(chosen.back()->label);
      if (chosen.size() == kEvaluationBatch || i + 1 == count) {
        evaluation_.push_back(gather(chosen));
        chosen.clear();
      }
    }
    std::vector<std::uint64_t> counts(data_.classes.size(), 0);
    for (const LabelledText& text : data_.train) ++counts[text.label];
    plateau_ = frequency_loss(counts, labels);
  }

  std::shared_ptr<const Dataset> dataset_;
  const LabelledTexts& data_;
  int batch_;
  ShuffledOrder order_;
};

}  // namespace

std::unique_ptr<Task> make_labelled_text_task(const RunConfig& config,
                                              std::shared_ptr<const Dataset> dataset) {
  return std::make_unique<LabelledTextTask>(config, std::move(dataset));
}

}  // namespace equinorm::lab
