// A model with its task, as the training loop sees it: a loss per step, an evaluation, parameters.
// A new task or model is a class and a line in learners.cpp.
//
// The one trap: loss() draws the batch of its step, so it is called once per step with rising
// steps.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lab/models/forward_context.hpp"
#include "lab/models/parameters.hpp"
#include "lab/run_config.hpp"
#include "lab/training/evaluation.hpp"

namespace equinorm::lab {

class Learner {
 public:
  virtual ~Learner() = default;

  /// Before the evaluation of the untrained model.
  virtual void prepare() {}
  /// The loss of the batch of a training step, counted from 1, with its graph.
  virtual at::Tensor loss(int step, const ForwardContext& context) = 0;
  /// On the fixed evaluation subset, without dropout.
  virtual Evaluation evaluate() = 0;
  [[nodiscard]] virtual const std::vector<Parameter>& parameters() const = 0;

  /// Loss of knowing the frequencies and nothing else, in nats.
  [[nodiscard]] virtual double plateau() const = 0;
  /// Whether an evaluation reached the target of the config, above 0.
  [[nodiscard]] virtual bool reached(const Evaluation& evaluation, double target) const = 0;
  /// Layers that report activations and gradients.
  [[nodiscard]] virtual int layers() const = 0;
  [[nodiscard]] virtual std::int64_t tokens_per_step() const = 0;

  /// Outputs on a fixed probe batch, for the change by the first update.
  virtual at::Tensor probe_outputs() = 0;
  /// Further numbers about the trained model, under their names.
  virtual std::map<std::string, double> final_metrics() { return {}; }
};

/// Throws InputError for missing or changed data.
std::unique_ptr<Learner> make_learner(const RunConfig& config,
                                      const std::filesystem::path& cache_dir);

}  // namespace equinorm::lab
