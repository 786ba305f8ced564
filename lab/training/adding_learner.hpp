// The adding problem (Hochreiter and Schmidhuber 1997): two numbers in a long sequence are marked,
// and their sum is asked for. Generated, as its point is the length.
#pragma once

#include <memory>

#include "lab/data/dataset.hpp"
#include "lab/training/learner.hpp"

namespace equinorm::lab {

/// The loss is a mean squared error, and accuracy the share of answers within 0.04; always
/// answering 1 has the loss 1/6. Numbers are uniform in 0 to 1, one of the marks is in each half,
/// and RunConfig::context is the length. The plateau is that of answering 0, 7/6: a run that has
/// learned the mean alone is no stall, since long sequences keep every model there for long.
/// Metrics at the end: "squared_error", the loss under a name without nats.
std::unique_ptr<Learner> make_adding_lstm(const RunConfig& config,
                                          std::shared_ptr<const Dataset> dataset);
std::unique_ptr<Learner> make_adding_transformer(const RunConfig& config,
                                                 std::shared_ptr<const Dataset> dataset);

/// At least two numbers.
void check_adding(const RunConfig& config);

}  // namespace equinorm::lab
