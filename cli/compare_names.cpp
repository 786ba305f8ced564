// Names of operators as options of compare. Not here: the lists, which are the lab's. The one trap:
// an operator can have another name there, as BatchNorm has.
#include "compare_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "lab/models/norm_names.hpp"

namespace equinorm::cli {

std::string compare_option_of(const std::string& operator_name) {
  const std::string norm = lab::norm_of_operator(operator_name);
  if (!norm.empty()) return "--norm " + norm;
  const std::vector<std::string> qk_norms = lab::qk_norms_of_operator(operator_name);
  return qk_norms.empty() ? "" : "--qk-norm " + fmt::format("{}", fmt::join(qk_norms, "|"));
}

}  // namespace equinorm::cli
