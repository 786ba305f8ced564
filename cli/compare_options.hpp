// The options of `equinorm compare` as texts, and their meaning. All rules about single values are
// here; rules between values are those of lab::validate.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "lab/experiment/run_plan.hpp"

namespace equinorm::cli {

struct OptionText {
  const char* name;        ///< "--steps"
  const char* value_name;  ///< "N"
  const char* help;
};

/// All options that take a value, in the order of --help.
[[nodiscard]] const std::vector<OptionText>& compare_option_texts();

struct CompareOptions {
  lab::ComparePlan plan;
  std::filesystem::path out;
  std::filesystem::path cache;  ///< empty: the default of the lab
  int jobs = 1;
};

/// `texts` maps option names to what was given; options that were not given are absent.
/// Throws UsageError naming option, value and rule.
[[nodiscard]] CompareOptions parse_compare_options(const std::map<std::string, std::string>& texts);

}  // namespace equinorm::cli
