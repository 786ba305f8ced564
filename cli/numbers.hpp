// Numbers written as text: separated by white space, commas or semicolons.
#pragma once

#include <istream>
#include <string>
#include <vector>

namespace equinorm::cli {

/// One finite decimal number; throws UsageError "<what>: '<token>' is not a number" otherwise.
double parse_number(const std::string& token, const std::string& what);

/// All numbers of `text`, in order.
std::vector<double> parse_numbers(const std::string& text, const std::string& what);

/// All numbers of `stream`; throws InputError naming the token and its line otherwise.
std::vector<double> read_numbers(std::istream& stream, const std::string& what);

}  // namespace equinorm::cli
