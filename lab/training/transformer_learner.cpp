#include "lab/training/transformer_learner.hpp"

#include <ATen/core/grad_mode.h>

#include <utility>

#include "lab/models/transformer.hpp"
#include "lab/training/attention_probe.hpp"
#include "lab/training/cross_entropy.hpp"
#include "lab/training/input_moment_probe.hpp"
#include "lab/training/task.hpp"

namespace equinorm::lab {
namespace {

TransformerOptions model_options(const RunConfig& config, const Task& task) {
  TransformerOptions options;
  options.norm = config.norm;
  options.norm_choice = {config.eps, config.norm_kernel == "composed"};
  options.qk_norm = config.qk_norm;
  options.placement = config.placement;
  options.placement_parts = config.placement_parts;
  options.depth = config.depth;
  options.width = config.width;
  options.heads = config.heads;
  options.ffn = config.ffn;
  options.dropout = config.dropout;
  options.dropout_place = config.dropout_place;
  options.tokens = task.tokens();
  options.vocabulary = task.vocabulary();
  options.features = task.features();
  options.outputs = task.outputs();
  options.causal = task.is_text() && !task.is_masked();
  options.pooled = !task.is_masked();
  options.seed = derive_seed(config.seed, "weights");
  return options;
}

class TransformerLearner final : public Learner {
 public:
  TransformerLearner(const RunConfig& config, std::shared_ptr<const Dataset> dataset)
      : config_(config),
        task_(make_task(config, std::move(dataset))),
        model_(model_options(config, *task_)) {}

  void prepare() override {
    first_batch_ = task_->train_batch(1);
    model_.profile(first_batch_.input);
  }

  at::Tensor loss(int step, const ForwardContext& context) override {
    const Batch batch = step == 1 ? first_batch_ : task_->train_batch(step);
    return cross_entropy(model_.forward(batch.input, context), batch.target, context);
  }

  Evaluation evaluate() override { return lab::evaluate(model_, *task_); }

  [[nodiscard]] const std::vector<Parameter>& parameters() const override {
    return model_.parameters();
  }
  [[nodiscard]] double plateau() const override { return task_->plateau(); }
  [[nodiscard]] bool reached(const Evaluation& evaluation, double target) const override {
    return task_->is_text() ? evaluation.loss <= target : evaluation.accuracy >= target;
  }
  [[nodiscard]] int layers() const override { return config_.depth; }
  [[nodiscard]] std::int64_t tokens_per_step() const override {
    return config_.batch * task_->tokens();
  }

  at::Tensor probe_outputs() override {
    const at::NoGradGuard no_grad;
    return model_.forward(task_->evaluation().front().input, {});
  }

  std::map<std::string, double> final_metrics() override {
    if (!config_.probes) return {};
    const at::NoGradGuard no_grad;
    AttentionProbe probe(config_.depth);
    ForwardContext context;
    context.observer = &probe;
    static_cast<void>(model_.forward(task_->evaluation().front().input, context));
    std::map<std::string, double> metrics = probe.metrics();
    metrics["mode_gap"] = training_mode_loss() - evaluate().loss;
    metrics["input_moment_ratio"] = input_moment(true) / input_moment(false);
    return metrics;
  }

 private:
  /// Loss on the evaluation subset with dropout on.
  double training_mode_loss() {
    Random random(derive_seed(config_.seed, "mode gap"));
    ForwardContext context;
    context.training = true;
    context.random = &random;
    double loss = 0;
    double count = 0;
    for (const Batch& batch : task_->evaluation()) {
      const double size = batch.target.ne(kNoTarget).sum().item<double>();
      loss +=
          size *
          cross_entropy(model_.forward(batch.input, context), batch.target, context).item<double>();
      count += size;
    }
    return loss / count;
  }

  /// Mean square of what sublayers read on the evaluation subset.
  double input_moment(bool training) {
    Random random(derive_seed(config_.seed, "input moment"));
    InputMomentProbe probe;
    ForwardContext context;
    context.training = training;
    context.random = &random;
    context.observer = &probe;
    for (const Batch& batch : task_->evaluation()) {
      static_cast<void>(model_.forward(batch.input, context));
    }
    return probe.mean_square();
  }

  RunConfig config_;
  std::unique_ptr<Task> task_;
  Transformer model_;
  Batch first_batch_;
};

}  // namespace

std::unique_ptr<Learner> make_transformer_learner(const RunConfig& config,
                                                  std::shared_ptr<const Dataset> dataset) {
  return std::make_unique<TransformerLearner>(config, std::move(dataset));
}

}  // namespace equinorm::lab
