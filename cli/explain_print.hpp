// An explanation as text for people and as one JSON document.
#pragma once

#include <string>

#include "explain_steps.hpp"

namespace equinorm::cli {

/// Nine significant digits, without a sign on zero.
std::string format_number(double value);

std::string to_text(const Explanation& explanation, const ExplainRequest& request);
std::string to_json(const Explanation& explanation, const ExplainRequest& request);

}  // namespace equinorm::cli
