// The loss of every learner with logits.
#pragma once

#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss.h>

#include "lab/models/forward_context.hpp"
#include "lab/training/task.hpp"

namespace equinorm::lab {

/// Mean over the targets but kNoTarget, in nats; logits (targets, kinds), target ids (targets).
inline at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& target,
                                const ForwardContext& context) {
  if (context.observer != nullptr) context.observer->saw_logits(logits, target);
  return at::cross_entropy_loss(logits, target, {}, at::Reduction::Mean, kNoTarget);
}

}  // namespace equinorm::lab
