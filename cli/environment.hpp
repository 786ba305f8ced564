// What a result was measured on and with, as text pairs for files that record it.
#pragma once

#include <map>
#include <string>

namespace equinorm::cli {

/// `equinorm info`, flat: {"machine.cpu": "...", "isa.chosen": "avx3", ...}; "none" for no value.
std::map<std::string, std::string> environment();

}  // namespace equinorm::cli
