// Evaluation without dropout, without graph, with running statistics where a norm has them.
#include "lab/training/evaluation.hpp"

#include <ATen/core/Reduction.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>

namespace equinorm::lab {

Evaluation evaluate(Transformer& model, const Task& task) {
  const at::NoGradGuard no_grad;
  double loss = 0;
  double right = 0;
  double count = 0;
  for (const Batch& batch : task.evaluation()) {
    const at::Tensor logits = model.forward(batch.input, {});
    loss += at::cross_entropy_loss(logits, batch.target, {}, at::Reduction::Sum).item<double>();
    right += logits.argmax(1).eq(batch.target).sum().item<double>();
    count += static_cast<double>(batch.target.numel());
  }
  return {loss / count, right / count};
}

}  // namespace equinorm::lab
