// What a run trains on: batches, the fixed evaluation subset, and the loss of knowing nothing.
//
// The order of training data depends on the seed and the batch size alone, never on the model.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "lab/data/dataset.hpp"
#include "lab/run_config.hpp"

namespace equinorm::lab {

inline constexpr std::int64_t kEvaluationImages = 500;
inline constexpr std::int64_t kEvaluationWindows = 256;  ///< of `context` characters each

/// What at::cross_entropy_loss ignores.
inline constexpr std::int64_t kNoTarget = -100;

struct Batch {
  at::Tensor input;   ///< float (batch, rows, cols) or ids (batch, context)
  at::Tensor target;  ///< ids: (batch) or (batch * context); kNoTarget where nothing is asked
  at::Tensor mask{};  ///< bool (batch, tokens), true for real tokens; undefined: all are
};

class Task {
 public:
  virtual ~Task() = default;

  /// The batch of a training step, counted from 1. Call it with rising steps.
  virtual Batch train_batch(int step) = 0;

  [[nodiscard]] const std::vector<Batch>& evaluation() const { return evaluation_; }
  /// Cross-entropy of the evaluation targets under the training frequencies (every count raised by
  /// one): what a model reaches that has learned the frequencies and nothing else. In nats.
  [[nodiscard]] double plateau() const { return plateau_; }
  [[nodiscard]] bool is_text() const { return vocabulary_ > 0; }
  /// Text in which masked characters are asked for, instead of the next ones.
  [[nodiscard]] bool is_masked() const { return vocabulary_ > outputs_; }
  [[nodiscard]] std::int64_t tokens() const { return tokens_; }          ///< per sample
  [[nodiscard]] std::int64_t features() const { return features_; }      ///< 0 for text
  [[nodiscard]] std::int64_t vocabulary() const { return vocabulary_; }  ///< 0 for images
  [[nodiscard]] std::int64_t outputs() const { return outputs_; }

 protected:
  std::vector<Batch> evaluation_;
  double plateau_ = 0;
  std::int64_t tokens_ = 0;
  std::int64_t features_ = 0;
  std::int64_t vocabulary_ = 0;
  std::int64_t outputs_ = 0;
};

/// Throws InputError for a text that is too short for config.context.
std::unique_ptr<Task> make_task(const RunConfig& config, std::shared_ptr<const Dataset> dataset);

/// Cross-entropy in nats of `targets` under the frequencies of `counts`, each count raised by one.
double frequency_loss(const std::vector<std::uint64_t>& counts,
                      const std::vector<std::uint8_t>& targets);

}  // namespace equinorm::lab
