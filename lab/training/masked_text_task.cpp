#include "lab/training/masked_text_task.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <utility>

#include "lab/models/parameters.hpp"
#include "lab/models/random.hpp"

namespace equinorm::lab {
namespace {

constexpr std::int64_t kEvaluationBatch = 32;
constexpr std::uint64_t kMaskedPercent = 15;

class MaskedTextTask final : public Task {
 public:
  MaskedTextTask(const RunConfig& config, std::shared_ptr<const Dataset> dataset)
      : dataset_(std::move(dataset)),
        data_(std::get<TextData>(dataset_->content)),
        split_(
            split_text(data_.ids.size(), static_cast<std::size_t>(config.context), dataset_->name)),
        batch_(config.batch),
        random_(derive_seed(config.seed, "order")) {
    tokens_ = config.context;
    outputs_ = static_cast<std::int64_t>(data_.vocabulary.size());
    vocabulary_ = outputs_ + 1;
    prepare_evaluation();
  }

  Batch train_batch(int /*step*/) override {
    std::vector<std::size_t> starts(static_cast<std::size_t>(batch_));
    const std::size_t places = split_.train_size - static_cast<std::size_t>(tokens_) + 1;
    for (std::size_t& start : starts) start = random_.below(places);
    return gather(starts, random_);
  }

 private:
  Batch gather(const std::vector<std::size_t>& starts, Random& random) const {
    const auto count = static_cast<std::int64_t>(starts.size());
    Batch batch{at::empty({count, tokens_}, at::kLong),
                at::full({count * tokens_}, kNoTarget, at::kLong)};
    auto* input = batch.input.mutable_data_ptr<std::int64_t>();
    auto* target = batch.target.mutable_data_ptr<std::int64_t>();
    for (const std::size_t start : starts) {
      std::copy_n(data_.ids.data() + start, tokens_, input);
      mask(input, target, random);
      input += tokens_;
      target += tokens_;
    }
    return batch;
  }

  void mask(std::int64_t* input, std::int64_t* target, Random& random) const {
    const auto ask = [&](std::int64_t at) {
      target[at] = input[at];
      input[at] = outputs_;
    };
    bool any = false;
    for (std::int64_t i = 0; i < tokens_; ++i) {
      if (random.below(100) >= kMaskedPercent) continue;
      ask(i);
      any = true;
    }
    if (!any) ask(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(tokens_))));
  }

  // The masks of the evaluation don't depend on the seed of the run.
  void prepare_evaluation() {
    const auto context = static_cast<std::size_t>(tokens_);
    const std::size_t available = split_.validation_size / context;
    const std::size_t count = std::min<std::size_t>(kEvaluationWindows, available);
    Random random(derive_seed(0, "evaluation masks"));
    std::vector<std::size_t> starts;
    std::vector<std::uint8_t> targets;
    for (std::size_t i = 0; i < count; ++i) {
      starts.push_back(split_.train_size + (i * available / count) * context);
      if (starts.size() != kEvaluationBatch && i + 1 != count) continue;
      evaluation_.push_back(gather(starts, random));
      starts.clear();
      const at::Tensor& asked = evaluation_.back().target;
      for (std::int64_t k = 0; k < asked.numel(); ++k) {
        const std::int64_t id = asked.const_data_ptr<std::int64_t>()[k];
        if (id != kNoTarget) targets.push_back(static_cast<std::uint8_t>(id));
      }
    }
    std::vector<std::uint64_t> counts(data_.vocabulary.size(), 0);
    for (std::size_t i = 0; i < split_.train_size; ++i) ++counts[data_.ids[i]];
    plateau_ = frequency_loss(counts, targets);
  }

  std::shared_ptr<const Dataset> dataset_;
  const TextData& data_;
  TextSplit split_;
  std::int64_t batch_;
  Random random_;
};

}  // namespace

std::unique_ptr<Task> make_masked_text_task(const RunConfig& config,
                                            std::shared_ptr<const Dataset> dataset) {
  return std::make_unique<MaskedTextTask>(config, std::move(dataset));
}

}  // namespace equinorm::lab
