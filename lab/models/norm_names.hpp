// Names of the norms that models can be built with, without LibTorch's headers.
#pragma once

#include <string>
#include <vector>

namespace equinorm::lab {

/// "none", "batch", "layer", "rms", then every named form of equinorm/row_forms.hpp.
const std::vector<std::string>& norm_names();

/// "a, b, c"
std::string joined(const std::vector<std::string>& names);

}  // namespace equinorm::lab
