// A diffusion Transformer on digits.
#pragma once

#include <memory>

#include "lab/data/dataset.hpp"
#include "lab/training/learner.hpp"

namespace equinorm::lab {

/// The loss is the mean squared error of the noise, 1 for answering 0; there is no accuracy.
/// Metrics at the end:
///
///   noise_error          the loss at the end, under a name without nats
///   sample_accuracy      share of 200 samples, 20 per class, that a classifier of the real images
///                        gives their class
///   classifier_accuracy  its accuracy on the test images
///   parameters           of the model
std::unique_ptr<Learner> make_diffusion_learner(const RunConfig& config,
                                                std::shared_ptr<const Dataset> dataset);

/// A known conditioning; "layer" as the norm of those that have no other.
void check_diffusion(const RunConfig& config);

}  // namespace equinorm::lab
