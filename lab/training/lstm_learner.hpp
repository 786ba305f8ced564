// An LSTM on texts: their labels from its last state, or each next character.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lab/data/dataset.hpp"
#include "lab/training/learner.hpp"

namespace equinorm::lab {

/// Labels. Metrics at the end, on the evaluation subset: "macro_f1", the mean over the classes in
/// it of the harmonic mean of precision and recall.
std::unique_ptr<Learner> make_label_lstm(const RunConfig& config,
                                         std::shared_ptr<const Dataset> dataset);

/// Next characters.
std::unique_ptr<Learner> make_text_lstm(const RunConfig& config,
                                        std::shared_ptr<const Dataset> dataset);

const std::vector<std::string>& lstm_norms();

/// Mean F1 over the classes that `right` holds.
double macro_f1(const std::vector<std::int64_t>& answers, const std::vector<std::int64_t>& right);

}  // namespace equinorm::lab
