// Images in a shuffled order, epoch by epoch; text in windows at random places.
#include "lab/training/task.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "lab/models/parameters.hpp"
#include "lab/models/random.hpp"
#include "lab/training/masked_text_task.hpp"
#include "lab/training/shuffled_order.hpp"

namespace equinorm::lab {
namespace {

constexpr std::int64_t kEvaluationBatch = 125;     // images
constexpr std::int64_t kEvaluationTextBatch = 32;  // windows

std::vector<std::uint64_t> count_values(const std::uint8_t* values, std::size_t size,
                                        std::int64_t kinds) {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(kinds), 0);
  for (std::size_t i = 0; i < size; ++i) ++counts[values[i]];
  return counts;
}

std::int64_t images_to_train_on(const RunConfig& config, const ImageData& data) {
  if (config.train_samples == 0) return data.train.count;
  return std::min<std::int64_t>(config.train_samples, data.train.count);
}

class ImageTask final : public Task {
 public:
  ImageTask(const RunConfig& config, std::shared_ptr<const Dataset> dataset)
      : dataset_(std::move(dataset)),
        data_(std::get<ImageData>(dataset_->content)),
        batch_(config.batch),
        order_(static_cast<std::size_t>(images_to_train_on(config, data_)),
               derive_seed(config.seed, "order")) {
    tokens_ = data_.rows;
    features_ = data_.cols;
    outputs_ = data_.classes;
    prepare_evaluation();
  }

  Batch train_batch(int /*step*/) override {
    std::vector<std::int64_t> chosen;
    while (static_cast<std::int64_t>(chosen.size()) < batch_) {
      chosen.push_back(static_cast<std::int64_t>(order_.next()));
    }
    return gather(data_.train, chosen);
  }

 private:
  [[nodiscard]] Batch gather(const ImageSet& set, const std::vector<std::int64_t>& chosen) const {
    const auto count = static_cast<std::int64_t>(chosen.size());
    const std::int64_t pixels = data_.rows * data_.cols;
    Batch batch{at::empty({count, data_.rows, data_.cols}), at::empty({count}, at::kLong)};
    float* input = batch.input.mutable_data_ptr<float>();
    auto* target = batch.target.mutable_data_ptr<std::int64_t>();
    for (const std::int64_t image : chosen) {
      const unsigned char* source = set.pixels.data() + image * pixels;
      for (std::int64_t i = 0; i < pixels; ++i) {
        *input++ = static_cast<float>((source[i] - data_.mean) / data_.stddev);
      }
      *target++ = set.labels[static_cast<std::size_t>(image)];
    }
    return batch;
  }

  void prepare_evaluation() {
    const std::int64_t count = std::min(kEvaluationImages, data_.test.count);
    std::vector<std::uint8_t> labels;
    for (std::int64_t first = 0; first < count; first += kEvaluationBatch) {
      std::vector<std::int64_t> chosen;
      for (std::int64_t i = first; i < std::min(first + kEvaluationBatch, count); ++i) {
        chosen.push_back(i * data_.test.count / count);  // evenly over the file
        labels.push_back(data_.test.labels[static_cast<std::size_t>(chosen.back())]);
      }
      evaluation_.push_back(gather(data_.test, chosen));
    }
    const auto counts =
        count_values(data_.train.labels.data(), data_.train.labels.size(), outputs_);
    plateau_ = frequency_loss(counts, labels);
  }

  std::shared_ptr<const Dataset> dataset_;
  const ImageData& data_;
  std::int64_t batch_;
  ShuffledOrder order_;
};

class TextTask final : public Task {
 public:
  TextTask(const RunConfig& config, std::shared_ptr<const Dataset> dataset)
      : dataset_(std::move(dataset)),
        data_(std::get<TextData>(dataset_->content)),
        split_(
            split_text(data_.ids.size(), static_cast<std::size_t>(config.context), dataset_->name)),
        batch_(config.batch),
        random_(derive_seed(config.seed, "order")) {
    tokens_ = config.context;
    vocabulary_ = static_cast<std::int64_t>(data_.vocabulary.size());
    outputs_ = vocabulary_;
    prepare_evaluation();
  }

  Batch train_batch(int /*step*/) override {
    std::vector<std::size_t> starts(static_cast<std::size_t>(batch_));
    const std::size_t places = split_.train_size - static_cast<std::size_t>(tokens_);
    for (std::size_t& start : starts) start = random_.below(places);
    return gather(starts);
  }

 private:
  [[nodiscard]] Batch gather(const std::vector<std::size_t>& starts) const {
    const auto count = static_cast<std::int64_t>(starts.size());
    Batch batch{at::empty({count, tokens_}, at::kLong), at::empty({count * tokens_}, at::kLong)};
    auto* input = batch.input.mutable_data_ptr<std::int64_t>();
    auto* target = batch.target.mutable_data_ptr<std::int64_t>();
    for (const std::size_t start : starts) {
      const std::uint8_t* ids = data_.ids.data() + start;
      for (std::int64_t i = 0; i < tokens_; ++i) {
        *input++ = ids[i];
        *target++ = ids[i + 1];
      }
    }
    return batch;
  }

  void prepare_evaluation() {
    const auto context = static_cast<std::size_t>(tokens_);
    const std::size_t available = (split_.validation_size - 1) / context;
    const std::size_t count = std::min<std::size_t>(kEvaluationWindows, available);
    std::vector<std::uint8_t> targets;
    std::vector<std::size_t> starts;
    for (std::size_t i = 0; i < count; ++i) {
      // Windows that don't overlap, evenly over the validation part.
      starts.push_back(split_.train_size + (i * available / count) * context);
      const auto* first = data_.ids.data() + starts.back() + 1;
      targets.insert(targets.end(), first, first + context);
      if (starts.size() == kEvaluationTextBatch || i + 1 == count) {
        evaluation_.push_back(gather(starts));
        starts.clear();
      }
    }
    plateau_ =
        frequency_loss(count_values(data_.ids.data(), split_.train_size, vocabulary_), targets);
  }

  std::shared_ptr<const Dataset> dataset_;
  const TextData& data_;
  TextSplit split_;
  std::int64_t batch_;
  Random random_;
};

}  // namespace

std::unique_ptr<Task> make_task(const RunConfig& config, std::shared_ptr<const Dataset> dataset) {
  if (std::holds_alternative<ImageData>(dataset->content)) {
    return std::make_unique<ImageTask>(config, std::move(dataset));
  }
  if (config.task == "masked-bible") return make_masked_text_task(config, std::move(dataset));
  return std::make_unique<TextTask>(config, std::move(dataset));
}

double frequency_loss(const std::vector<std::uint64_t>& counts,
                      const std::vector<std::uint8_t>& targets) {
  double total = 0;
  for (const std::uint64_t count : counts) total += static_cast<double>(count + 1);
  double loss = 0;
  for (const std::uint8_t target : targets) {
    loss -= std::log(static_cast<double>(counts[target] + 1) / total);
  }
  return loss / static_cast<double>(targets.size());
}

}  // namespace equinorm::lab
