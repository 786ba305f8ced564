#include "lab/training/lstm_learner.hpp"

#include <ATen/core/grad_mode.h>

#include <map>
#include <utility>

#include "lab/models/lstm_classifier.hpp"
#include "lab/training/labelled_text_task.hpp"
#include "lab/training/task_learner.hpp"

namespace equinorm::lab {
namespace {

LstmClassifierOptions model_options(const RunConfig& config, const Task& task) {
  LstmClassifierOptions options;
  options.norm = config.norm;
  options.input = {task.vocabulary(), task.features(), task.tokens()};
  options.width = config.width;
  options.initial_gain = config.initial_gain;
  options.outputs = task.outputs();
  options.seed = derive_seed(config.seed, "weights");
  return options;
}

class LstmLearner final : public TaskLearner {
 public:
  LstmLearner(const RunConfig& config, std::shared_ptr<const Dataset> dataset)
      : TaskLearner(make_labelled_text_task(config, std::move(dataset)), config.batch),
        model_(model_options(config, task())) {}

  [[nodiscard]] const std::vector<Parameter>& parameters() const override {
    return model_.parameters();
  }

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

 private:
  at::Tensor outputs(const Batch& batch, const ForwardContext& context) override {
    return model_.forward(batch.input, context.training, batch.mask);
  }

  LstmClassifier model_;
};

}  // namespace

std::unique_ptr<Learner> make_lstm_learner(const RunConfig& config,
                                           std::shared_ptr<const Dataset> dataset) {
  return std::make_unique<LstmLearner>(config, std::move(dataset));
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
