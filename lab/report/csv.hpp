// Tables as CSV and as links that download them without a server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace equinorm::lab::report {

/// Numbers are printed to round-trip; NaN and infinities are empty fields.
[[nodiscard]] std::string csv_number(double value);

class Csv {
 public:
  explicit Csv(const std::vector<std::string>& header) { add(header); }
  void add(const std::vector<std::string>& fields);
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

/// "data:text/csv;charset=utf-8,..." with everything escaped that an HTML attribute or URI forbids.
[[nodiscard]] std::string data_uri(std::string_view csv);

}  // namespace equinorm::lab::report
