// The training loop: batch, forward, backward, clip, update; evaluation and instruments between.
#include "lab/train.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "lab/training/activation_probe.hpp"
#include "lab/training/clock.hpp"
#include "lab/training/instruments.hpp"
#include "lab/training/learner.hpp"
#include "lab/training/low_precision.hpp"
#include "lab/training/optimizer.hpp"
#include "lab/training/run_files.hpp"
#include "lab/training/time_splitter.hpp"
#include "lab/training/variants.hpp"
#include "lab/training/weights.hpp"

namespace equinorm::lab {
namespace {

constexpr int kSplitEvery = 10;      // steps between samples of the time split
constexpr int kUntimedSteps = 10;    // at most, at the beginning of a run
constexpr double kBlowUpFactor = 2;  // times the initial loss

class TrainingRun {
 public:
  TrainingRun(const RunConfig& config, const std::filesystem::path& run_dir,
              const TrainOptions& options)
      : config_(config),
        options_(options),
        learner_(make_learner(config, options.cache_dir)),
        adam_(learner_->parameters()),
        precision_(config.precision, learner_->parameters()),
        loss_scale_(config.loss_scale),
        random_(derive_seed(config.seed, "dropout")),
        files_(run_dir, config) {
    apply_norm_choices(config, learner_->parameters());
    if (config.instrument_every > 0) start_ = copy_values(learner_->parameters());
  }

  RunOutcome run(const StopToken& stop) {
    outcome_.result.plateau = learner_->plateau();
    learner_->prepare();
    run_evaluation(0);
    outcome_.result.initial_loss = last_.loss;
    for (int step = 1; step <= config_.steps && !non_finite_; ++step) {
      if (stop.stop_requested()) return outcome_;
      if (step == 1 && config_.probes) {
        probe_first_update();
      } else {
        train_step(step);
      }
      if (non_finite_) break;
      outcome_.result.steps_done = step;
      if (step == config_.steps) remove_affine(config_, learner_->parameters());
      if (step % config_.eval_every == 0 || step == config_.steps) run_evaluation(step);
    }
    finish();
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] bool is_instrumented(int step) const {
    const int every = config_.instrument_every;
    return every > 0 && (step % every == 0 || (step == 1 && config_.steps > 3));
  }

  // Never an instrumented step; every run has one.
  [[nodiscard]] bool is_split_due(int step) const {
    if (is_instrumented(step)) return false;
    if (config_.steps <= 3) return step == 1;
    return step >= 3 && (last_split_ == 0 || step - last_split_ >= kSplitEvery);
  }

  [[nodiscard]] double learning_rate(int step) const {
    const double ramp = config_.warmup > 0 ? static_cast<double>(step) / config_.warmup : 1;
    return config_.learning_rate * std::min(1.0, ramp);
  }

  // |F(theta_1) - F(theta_0)|, root mean square over the outputs on the probe batch.
  void probe_first_update() {
    const at::Tensor before = probe_outputs();
    train_step(1);
    const at::Tensor change = probe_outputs() - before;
    outcome_.result.metrics["first_update_change"] =
        std::sqrt(change.to(at::kDouble).square().mean().item<double>());
  }

  at::Tensor probe_outputs() {
    const LowPrecision::Pass pass(precision_);
    return learner_->probe_outputs();
  }

  // Forward and backward; gradients are of the loss itself again when it returns.
  double run_passes(int step, const ForwardContext& context, bool split) {
    double loss_value = 0;
    const at::Tensor scale = at::full({}, loss_scale_.value(), at::kFloat);  // not to be rounded
    {
      const LowPrecision::Pass pass(precision_, step);
      const at::Tensor loss = learner_->loss(step, context);
      if (split) splitter_.start_backward();
      loss.backward(scale);
      if (split) splitter_.stop_backward();
      loss_value = loss.item<double>();
    }
    precision_.round_gradients();
    if (loss_scale_.dynamic()) adam_.scale_gradients(1 / loss_scale_.value());
    return loss_value;
  }

  void train_step(int step) {
    const bool instrumented = is_instrumented(step);
    const bool split = is_split_due(step);
    std::optional<ActivationProbe> probe;
    std::vector<at::Tensor> before;
    ForwardContext context;
    context.training = true;
    context.random = &random_;
    context.warmup_steps = config_.warmup;
    if (instrumented) {
      context.observer = &probe.emplace(learner_->layers());
      before = copy_values(learner_->parameters());
    }
    if (split) context.observer = &splitter_;

    const Stopwatch watch;
    const double loss_value = run_passes(step, context, split);
    const Stopwatch optimizer_watch;
    const GradientNorms norms = update(step, loss_value);
    const double seconds = watch.seconds();
    if (split) {
      splitter_.add_optimizer(optimizer_watch.seconds());
      splitter_.finish_step(seconds);
      last_split_ = step;
    }
    record_time(step, seconds, split || instrumented);
    if (instrumented) write_layers(step, *probe, norms, before);
    if (options_.on_step) options_.on_step(step, loss_value);
  }

  // Clips and updates unless something is not finite, and writes the "train" event.
  GradientNorms update(int step, double loss) {
    GradientNorms norms = adam_.gradient_norms();
    const bool skipped = std::isfinite(loss) && loss_scale_.skips(std::isfinite(norms.total));
    non_finite_ = !skipped && (!std::isfinite(loss) || !std::isfinite(norms.total));
    const bool clipped = config_.clip > 0 && norms.total > config_.clip;
    const double rate = learning_rate(step);
    if (skipped) {
      adam_.drop_gradients();
    } else if (!non_finite_) {
      if (clipped) adam_.scale_gradients(config_.clip / norms.total);
      adam_.step(rate);
      gradient_norms_.push_back(norms.total);
      clipped_steps_ += clipped ? 1 : 0;
    }
    files_.write_event({{"event", "train"},
                        {"step", step},
                        {"loss", loss},
                        {"grad_norm", norms.total},
                        {"clipped", clipped},
                        {"learning_rate", rate}});
    return norms;
  }

  void write_layers(int step, const ActivationProbe& probe, const GradientNorms& norms,
                    const std::vector<at::Tensor>& before) {
    const std::vector<Parameter>& parameters = learner_->parameters();
    const int depth = learner_->layers();
    nlohmann::ordered_json event = {
        {"event", "layers"},
        {"step", step},
        {"grad_norm", gradient_norms_by_layer(parameters, norms, depth)}};
    probe.add_to(event);
    event["update_ratio"] = update_ratios_by_layer(parameters, before, depth);
    event["gamma_drift"] = gamma_drift(parameters, start_, depth);
    event["alpha"] = norm_alphas(parameters, depth);
    files_.write_event(event);
  }

  void record_time(int step, double seconds, bool sampled) {
    trained_seconds_ += seconds;
    if (!sampled && step > std::min(kUntimedSteps, config_.steps / 4)) {
      step_seconds_.push_back(seconds);
    }
  }

  Evaluation evaluate() {
    const LowPrecision::Pass pass(precision_);
    return learner_->evaluate();
  }

  void run_evaluation(int step) {
    const Stopwatch watch;
    last_ = evaluate();
    outcome_.timing.eval_seconds.push_back(watch.seconds());
    files_.write_event(
        {{"event", "eval"}, {"step", step}, {"loss", last_.loss}, {"accuracy", last_.accuracy}});
    if (!std::isfinite(last_.loss)) {
      non_finite_ = true;
      return;
    }
    RunResult& result = outcome_.result;
    result.best_loss = step == 0 ? last_.loss : std::min(result.best_loss, last_.loss);
    const bool reached = config_.target > 0 && learner_->reached(last_, config_.target);
    if (reached && !result.steps_to_target) {
      result.steps_to_target = step;
      outcome_.timing.seconds_to_target = trained_seconds_;
    }
  }

  [[nodiscard]] std::string failure() const {
    if (non_finite_) return "non-finite";
    if (last_.loss > kBlowUpFactor * outcome_.result.initial_loss) return "blow-up";
    if (last_.loss >= outcome_.result.plateau) return "stall";
    return "";
  }

  std::map<std::string, double> final_metrics() {
    const LowPrecision::Pass pass(precision_);
    return learner_->final_metrics();
  }

  void finish() {
    RunResult& result = outcome_.result;
    result.failure = failure();
    result.final_loss = non_finite_ ? std::numeric_limits<double>::quiet_NaN() : last_.loss;
    if (!non_finite_) result.final_accuracy = last_.accuracy;
    if (!gradient_norms_.empty()) {
      result.max_grad_norm = *std::max_element(gradient_norms_.begin(), gradient_norms_.end());
      result.median_grad_norm = median(gradient_norms_);
      result.clipped_share =
          static_cast<double>(clipped_steps_) / static_cast<double>(gradient_norms_.size());
    }
    RunTiming& timing = outcome_.timing;
    const double step_seconds = median(step_seconds_);
    timing.ms_per_step = 1e3 * step_seconds;
    const auto tokens = static_cast<double>(learner_->tokens_per_step());
    timing.tokens_per_second = step_seconds > 0 ? tokens / step_seconds : 0;
    timing.time_split = splitter_.split();
    if (!non_finite_) result.metrics.merge(final_metrics());
    result.metrics.merge(precision_.metrics());
    if (loss_scale_.dynamic()) {
      result.metrics["skipped_steps"] = loss_scale_.skipped();
      result.metrics["loss_scale"] = loss_scale_.value();
    }
    result.notes = precision_.notes();
    result.rounding = precision_.modules();
    outcome_.completed = true;
    if (options_.save_weights) {
      write_weights(files_.directory() / "weights.safetensors", learner_->parameters());
    }
    files_.finish(outcome_);
  }

  RunConfig config_;
  const TrainOptions& options_;
  std::unique_ptr<Learner> learner_;
  Adam adam_;
  LowPrecision precision_;
  LossScale loss_scale_;
  Random random_;  // of dropout
  RunFiles files_;

  std::vector<at::Tensor> start_;  // of the parameters, for the instruments

  RunOutcome outcome_;
  Evaluation last_;
  bool non_finite_ = false;
  TimeSplitter splitter_;
  int last_split_ = 0;
  double trained_seconds_ = 0;
  std::vector<double> step_seconds_;
  std::vector<double> gradient_norms_;
  int clipped_steps_ = 0;
};

}  // namespace

void use_one_thread() { at::set_num_threads(1); }

RunOutcome train(const RunConfig& config, const std::filesystem::path& run_dir, StopToken stop,
                 const TrainOptions& options) {
  validate(config);
  use_one_thread();
  return TrainingRun(config, run_dir, options).run(stop);
}

}  // namespace equinorm::lab
