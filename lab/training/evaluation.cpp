// Evaluation without dropout, without graph, with running statistics where a norm has them.
#include "lab/training/evaluation.hpp"

#include <ATen/core/Reduction.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>

namespace equinorm::lab {

Evaluation evaluate(const Task& task, const std::function<at::Tensor(const Batch&)>& outputs) {
  const at::NoGradGuard no_grad;
  double loss = 0;
  double right = 0;
  double count = 0;
  for (const Batch& batch : task.evaluation()) {
    const at::Tensor scores = outputs(batch).to(at::kFloat);
    const FullPrecision loss_in_f32;
    loss += at::cross_entropy_loss(scores, batch.target, {}, at::Reduction::Sum).item<double>();
    right += scores.argmax(1).eq(batch.target).sum().item<double>();
    count += batch.target.ne(kNoTarget).sum().item<double>();
  }
  return {loss / count, right / count};
}

Evaluation evaluate(Transformer& model, const Task& task) {
  return evaluate(task, [&](const Batch& batch) { return model.forward(batch.input, {}); });
}

}  // namespace equinorm::lab
