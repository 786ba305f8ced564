// Names of the norms that models can be built with, without LibTorch's headers.
#pragma once

#include <string>
#include <vector>

namespace equinorm::lab {

/// "none", "batch", "layer", "rms", operators by their names, then every named form of
/// equinorm/row_forms.hpp.
const std::vector<std::string>& norm_names();

/// Whether it is a norm of rows: "layer", "rms" or a named form, which can be composed and take any
/// eps.
bool is_row_norm(const std::string& name);

/// The norm that is this operator of equinorm/operator_forms.hpp, by its name in norm_names();
/// empty where none is.
std::string norm_of_operator(const std::string& name);

/// Norms of queries and keys: "none", "rms", "layer", "l2" (qk_norm.hpp).
const std::vector<std::string>& qk_norm_names();

/// Those of them that are this operator of equinorm/operator_forms.hpp.
std::vector<std::string> qk_norms_of_operator(const std::string& name);

/// "a, b, c"
std::string joined(const std::vector<std::string>& names);

}  // namespace equinorm::lab
