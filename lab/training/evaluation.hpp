// Loss and accuracy of a model on the evaluation subset of its task.
#pragma once

#include "lab/models/transformer.hpp"
#include "lab/training/task.hpp"

namespace equinorm::lab {

struct Evaluation {
  double loss = 0;      ///< mean cross-entropy in nats
  double accuracy = 0;  ///< share of targets that got the largest output
};

Evaluation evaluate(Transformer& model, const Task& task);

}  // namespace equinorm::lab
