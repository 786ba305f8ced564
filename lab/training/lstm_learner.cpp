#include "lab/training/lstm_learner.hpp"

#include <ATen/core/grad_mode.h>

#include <map>
#include <utility>

#include "lab/models/lstm_classifier.hpp"
#include "lab/training/labelled_text_task.hpp"
#include "lab/training/task_learner.hpp"

namespace equinorm::lab {
namespace {

LstmClassifierOptions model_options(const RunConfig& config, const Task& task, bool every_state) {
  LstmClassifierOptions options;
  options.norm = config.norm;
  options.input = {task.vocabulary(), task.features(), task.tokens()};
  options.width = config.width;
  options.initial_gain = config.initial_gain;
  options.every_state = every_state;
  options.outputs = task.outputs();
  options.seed = derive_seed(config.seed, "weights");
  return options;
}

class LstmLearner : public TaskLearner {
 public:
  LstmLearner(const RunConfig& config, std::unique_ptr<Task> task, bool every_state)
      : TaskLearner(std::move(task), config.batch),
        model_(model_options(config, this->task(), every_state)) {}

  [[nodiscard]] const std::vector<Parameter>& parameters() const final {
    return model_.parameters();
  }

 protected:
  at::Tensor outputs(const Batch& batch, const ForwardContext& context) final {
    return model_.forward(batch.input, context.training, batch.mask);
  }

 private:
  LstmClassifier model_;
};

class LabelLearner final : public LstmLearner {
 public:
  LabelLearner(const RunConfig& config, std::shared_ptr<const Dataset> dataset)
      : LstmLearner(config, make_labelled_text_task(config, std::move(dataset)), false) {}

  std::map<std::string, double> final_metrics() override {
    const at::NoGradGuard no_grad;
    std::vector<std::int64_t> answers;
    std::vector<std::int64_t> right;
    for (const Batch& batch : task().evaluation()) {
      const at::Tensor found = outputs(batch, {}).argmax(1);
      for (std::int64_t i = 0; i < found.size(0); ++i) {
        answers.push_back(found.const_data_ptr<std::int64_t>()[i]);
        right.push_back(batch.target.const_data_ptr<std::int64_t>()[i]);
      }
    }
    return {{"macro_f1", macro_f1(answers, right)}};
  }
};

class NextCharacterLearner final : public LstmLearner {
 public:
  NextCharacterLearner(const RunConfig& config, std::shared_ptr<const Dataset> dataset)
      : LstmLearner(config, make_task(config, std::move(dataset)), true) {}

  /// The target is a loss.
  [[nodiscard]] bool reached(const Evaluation& evaluation, double target) const override {
    return evaluation.loss <= target;
  }
};

}  // namespace

std::unique_ptr<Learner> make_label_lstm(const RunConfig& config,
                                         std::shared_ptr<const Dataset> dataset) {
  return std::make_unique<LabelLearner>(config, std::move(dataset));
}

std::unique_ptr<Learner> make_text_lstm(const RunConfig& config,
                                        std::shared_ptr<const Dataset> dataset) {
  return std::make_unique<NextCharacterLearner>(config, std::move(dataset));
}

const std::vector<std::string>& lstm_norms() {
  static const std::vector<std::string> names = lstm_norm_names();
  return names;
}

double macro_f1(const std::vector<std::int64_t>& answers, const std::vector<std::int64_t>& right) {
  struct Counts {
    double answered = 0;
    double there = 0;
    double both = 0;
  };
  std::map<std::int64_t, Counts> counts;
  for (std::size_t i = 0; i < right.size(); ++i) {
    counts[answers[i]].answered += 1;
    counts[right[i]].there += 1;
    if (answers[i] == right[i]) counts[right[i]].both += 1;
  }
  double sum = 0;
  double classes = 0;
  for (const auto& [label, c] : counts) {
    if (c.there == 0) continue;
    sum += 2 * c.both / (c.answered + c.there);
    classes += 1;
  }
  return sum / classes;
}

}  // namespace equinorm::lab
