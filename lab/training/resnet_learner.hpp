// A residual network on images.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lab/data/dataset.hpp"
#include "lab/training/learner.hpp"

namespace equinorm::lab {

/// Metrics at the end: "parameters", their number.
std::unique_ptr<Learner> make_resnet_learner(const RunConfig& config,
                                             std::shared_ptr<const Dataset> dataset);

const std::vector<std::string>& resnet_norms();

/// Depth 6 n + 2, a known order of blocks, groups that divide the width.
void check_resnet(const RunConfig& config);

}  // namespace equinorm::lab
