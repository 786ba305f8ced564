// Which option of `equinorm compare` asks for an operator of equinorm/operator_forms.hpp, from the
// lists that models are built with. Not here: row forms and placements, whose names are the
// options' values.
//
// The one trap: without LibTorch there is no compare, and every answer is empty.
#pragma once

#include <string>

namespace equinorm::cli {

/// "--norm DyT"; empty where compare does not know the operator.
[[nodiscard]] std::string compare_option_of(const std::string& operator_name);

}  // namespace equinorm::cli
