#include "numbers.hpp"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <system_error>

#include "command.hpp"

namespace equinorm::cli {
namespace {

constexpr const char* kSeparators = " \t\r\n\v\f,;";

// Binary input must not garble the terminal.
std::string printable(const std::string& token) {
  std::string text;
  for (const char c : token.substr(0, 40)) text += c >= ' ' && c <= '~' ? c : '?';
  return token.size() > 40 ? text + "..." : text;
}

}  // namespace

double parse_number(const std::string& token, const std::string& what) {
  const char* first = token.data();
  const char* const last = first + token.size();
  if (token.size() > 1 && token[0] == '+' && token[1] != '-') ++first;
  double value = 0;
  const auto [end, error] = std::from_chars(first, last, value);
  if (error == std::errc::result_out_of_range) {
    throw UsageError(what + ": '" + printable(token) + "' is out of the range of f64");
  }
  if (error != std::errc{} || end != last) {
    throw UsageError(what + ": '" + printable(token) + "' is not a number");
  }
  if (!std::isfinite(value)) {
    throw UsageError(what + ": '" + printable(token) + "' is not finite");
  }
  return value;
}

std::vector<double> parse_numbers(const std::string& text, const std::string& what) {
  std::vector<double> numbers;
  std::size_t begin = text.find_first_not_of(kSeparators);
  while (begin != std::string::npos) {
    const std::size_t end = text.find_first_of(kSeparators, begin);
    numbers.push_back(parse_number(text.substr(begin, end - begin), what));
    begin = text.find_first_not_of(kSeparators, end);
  }
  return numbers;
}

std::vector<double> read_numbers(std::istream& stream, const std::string& what) {
  std::vector<double> numbers;
  std::string line;
  for (std::size_t number = 1; std::getline(stream, line); ++number) {
    try {
      const std::vector<double> found = parse_numbers(line, what);
      numbers.insert(numbers.end(), found.begin(), found.end());
    } catch (const UsageError& error) {
      throw InputError(std::string(error.what()) + " (line " + std::to_string(number) + ")");
    }
  }
  if (stream.bad()) throw InputError(what + ": reading failed");
  return numbers;
}

}  // namespace equinorm::cli
