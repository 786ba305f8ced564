#include "lab/training/task_learner.hpp"

#include <ATen/core/grad_mode.h>

#include "lab/training/cross_entropy.hpp"

namespace equinorm::lab {

at::Tensor TaskLearner::loss(int step, const ForwardContext& context) {
  const Batch batch = task_->train_batch(step);
  return cross_entropy(outputs(batch, context), batch.target, context);
}

Evaluation TaskLearner::evaluate() {
  return lab::evaluate(*task_, [this](const Batch& batch) { return outputs(batch, {}); });
}

at::Tensor TaskLearner::probe_outputs() {
  const at::NoGradGuard no_grad;
  return outputs(task_->evaluation().front(), {});
}

double TaskLearner::count_parameters() const {
  double count = 0;
  for (const Parameter& parameter : parameters()) {
    count += static_cast<double>(parameter.value.numel());
  }
  return count;
}

}  // namespace equinorm::lab
