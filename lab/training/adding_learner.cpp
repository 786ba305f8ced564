#include "lab/training/adding_learner.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/zeros.h>

#include <type_traits>
#include <utility>

#include "lab/error.hpp"
#include "lab/models/lstm_classifier.hpp"
#include "lab/models/random.hpp"
#include "lab/models/transformer.hpp"

namespace equinorm::lab {
namespace {

constexpr std::int64_t kEvaluationSequences = 256;
constexpr double kNear = 0.04;

struct Sums {
  at::Tensor input;   ///< (sequences, tokens, 2): number, mark
  at::Tensor target;  ///< (sequences)
};

Sums draw_sums(std::int64_t sequences, std::int64_t tokens, Random& random) {
  Sums sums{at::zeros({sequences, tokens, 2}), at::zeros({sequences})};
  auto* input = sums.input.mutable_data_ptr<float>();
  auto* target = sums.target.mutable_data_ptr<float>();
  const std::int64_t half = tokens / 2;
  for (std::int64_t i = 0; i < sequences; ++i) {
    for (std::int64_t t = 0; t < tokens; ++t) {
      input[2 * t] = static_cast<float>(random.next() >> 40) * 0x1p-24F;
    }
    const auto first = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(half)));
    const auto rest = static_cast<std::uint64_t>(tokens - half);
    const std::int64_t second = half + static_cast<std::int64_t>(random.below(rest));
    for (const std::int64_t marked : {first, second}) {
      input[2 * marked + 1] = 1;
      target[i] += input[2 * marked];
    }
    input += 2 * tokens;
  }
  return sums;
}

LstmClassifier make_model(const RunConfig& config, LstmClassifier* /*kind*/) {
  LstmClassifierOptions options;
  options.norm = config.norm;
  options.input = {0, 2, config.context};
  options.width = config.width;
  options.initial_gain = config.initial_gain;
  options.outputs = 1;
  options.seed = derive_seed(config.seed, "weights");
  return LstmClassifier(options);
}

Transformer make_model(const RunConfig& config, Transformer* /*kind*/) {
  TransformerOptions options;
  options.norm = config.norm;
  options.qk_norm = config.qk_norm;
  options.placement = config.placement;
  options.depth = config.depth;
  options.width = config.width;
  options.heads = config.heads;
  options.ffn = config.ffn;
  options.dropout = config.dropout;
  options.tokens = config.context;
  options.features = 2;
  options.outputs = 1;
  options.seed = derive_seed(config.seed, "weights");
  return Transformer(options);
}

at::Tensor answers(const LstmClassifier& model, const at::Tensor& input,
                   const ForwardContext& context) {
  return model.forward(input, context.training).flatten();
}

at::Tensor answers(const Transformer& model, const at::Tensor& input,
                   const ForwardContext& context) {
  return model.forward(input, context).flatten();
}

template <class Model>
class AddingLearner final : public Learner {
 public:
  explicit AddingLearner(const RunConfig& config)
      : config_(config),
        random_(derive_seed(config.seed, "order")),
        model_(make_model(config, static_cast<Model*>(nullptr))) {
    Random random(derive_seed(0, "evaluation sums"));
    evaluation_ = draw_sums(kEvaluationSequences, config.context, random);
  }

  at::Tensor loss(int /*step*/, const ForwardContext& context) override {
    const Sums sums = draw_sums(config_.batch, config_.context, random_);
    return at::mse_loss(answers(model_, sums.input, context), sums.target);
  }

  Evaluation evaluate() override {
    const at::Tensor errors = probe_outputs() - evaluation_.target;
    return {errors.square().mean().item<double>(),
            errors.abs().lt(kNear).to(at::kDouble).mean().item<double>()};
  }

  std::map<std::string, double> final_metrics() override {
    return {{"squared_error", evaluate().loss}};
  }

  at::Tensor probe_outputs() override {
    const at::NoGradGuard no_grad;
    return answers(model_, evaluation_.input, {});
  }

  [[nodiscard]] const std::vector<Parameter>& parameters() const override {
    return model_.parameters();
  }
  [[nodiscard]] double plateau() const override { return 7.0 / 6; }
  [[nodiscard]] bool reached(const Evaluation& evaluation, double target) const override {
    return evaluation.loss <= target;
  }
  [[nodiscard]] int layers() const override {
    return std::is_same_v<Model, Transformer> ? config_.depth : 0;
  }
  [[nodiscard]] std::int64_t tokens_per_step() const override {
    return std::int64_t{config_.batch} * config_.context;
  }

 private:
  RunConfig config_;
  Random random_;
  Model model_;
  Sums evaluation_;
};

}  // namespace

std::unique_ptr<Learner> make_adding_lstm(const RunConfig& config,
                                          std::shared_ptr<const Dataset> /*dataset*/) {
  return std::make_unique<AddingLearner<LstmClassifier>>(config);
}

std::unique_ptr<Learner> make_adding_transformer(const RunConfig& config,
                                                 std::shared_ptr<const Dataset> /*dataset*/) {
  return std::make_unique<AddingLearner<Transformer>>(config);
}

void check_adding(const RunConfig& config) {
  if (config.context >= 2) return;
  throw UsageError("context = " + std::to_string(config.context) +
                   ": must be at least 2 for the adding problem");
}

}  // namespace equinorm::lab
