#include "lab/report/csv.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

namespace equinorm::lab::report {

std::string csv_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

void Csv::add(const std::vector<std::string>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) text_ += ',';
    if (fields[i].find_first_of(",\"\r\n") == std::string::npos) {
      text_ += fields[i];
      continue;
    }
    text_ += '"';
    for (const char c : fields[i]) {
      if (c == '"') text_ += '"';
      text_ += c;
    }
    text_ += '"';
  }
  text_ += '\n';
}

std::string data_uri(std::string_view csv) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~,;:/+=";
  std::string uri = "data:text/csv;charset=utf-8,";
  for (const char c : csv) {
    if (kPlain.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

}  // namespace equinorm::lab::report
