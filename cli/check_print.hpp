// What `equinorm check` prints: progress, table, JSON, Markdown.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "conformance/survey.hpp"

namespace equinorm::cli {

/// Progress on stderr: one line rewritten on a terminal, a line every few seconds elsewhere.
class CheckProgress {
 public:
  CheckProgress(std::size_t total, bool quiet);
  ~CheckProgress();
  CheckProgress(const CheckProgress&) = delete;
  CheckProgress& operator=(const CheckProgress&) = delete;

  void start(const std::string& name);

 private:
  std::size_t total_;
  std::size_t started_ = 0;
  bool quiet_;
  bool terminal_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_line_;
};

void print_check_table(const std::vector<conformance::Report>& reports);
void print_check_json(const std::vector<conformance::Report>& reports);
/// Worst scale ulp by family and output, a table for each pair of types.
void print_check_markdown(const std::vector<conformance::Report>& reports);

}  // namespace equinorm::cli
