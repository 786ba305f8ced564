// Results as text for people and as JSON for programs.
#pragma once

#include <map>
#include <string>

#include "run.hpp"

namespace equinorm::bench {

/// Explains the columns; printed once, before the first case.
std::string text_header(const std::map<std::string, std::string>& environment);

/// One block: the case, then a line for each contender.
std::string text_of(const CaseResult& result);

/// One document: environment, seconds per case, results.
std::string json_of(const std::map<std::string, std::string>& environment, double seconds,
                    const std::vector<CaseResult>& results);

}  // namespace equinorm::bench
