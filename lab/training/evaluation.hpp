// Loss and accuracy of a model on the evaluation subset of its task.
#pragma once

#include <functional>

#include "lab/models/transformer.hpp"
#include "lab/training/task.hpp"

namespace equinorm::lab {

struct Evaluation {
  double loss = 0;      ///< mean cross-entropy in nats
  double accuracy = 0;  ///< share of targets that got the largest output
};

Evaluation evaluate(Transformer& model, const Task& task);

/// Of any model: `outputs` gives the scores (targets, kinds) of a batch.
Evaluation evaluate(const Task& task, const std::function<at::Tensor(const Batch&)>& outputs);

}  // namespace equinorm::lab
