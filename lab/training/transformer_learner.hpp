// The Transformer with one stack on images or texts.
#pragma once

#include <memory>

#include "lab/data/dataset.hpp"
#include "lab/training/learner.hpp"

namespace equinorm::lab {

std::unique_ptr<Learner> make_transformer_learner(const RunConfig& config,
                                                  std::shared_ptr<const Dataset> dataset);

}  // namespace equinorm::lab
