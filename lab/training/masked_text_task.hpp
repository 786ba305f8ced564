// Text with masked characters as a task: windows in which 15 % of the characters (at least one) are
// replaced by a mask, and asked for (Devlin et al. 2019, without their random and kept characters).
#pragma once

#include <memory>

#include "lab/training/task.hpp"

namespace equinorm::lab {

/// The mask is the id behind those of the characters.
std::unique_ptr<Task> make_masked_text_task(const RunConfig& config,
                                            std::shared_ptr<const Dataset> dataset);

}  // namespace equinorm::lab
