// Texts with labels as a task: padded to the longest of a batch, cut at the context.
#pragma once

#include <memory>

#include "lab/training/task.hpp"

namespace equinorm::lab {

inline constexpr std::size_t kEvaluationTexts = 500;

std::unique_ptr<Task> make_labelled_text_task(const RunConfig& config,
                                              std::shared_ptr<const Dataset> dataset);

}  // namespace equinorm::lab
