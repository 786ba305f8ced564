// The tables of the report, as text cells. No markup: the template draws them.
#pragma once

#include <string>
#include <vector>

#include "lab/experiment/run_store.hpp"
#include "lab/experiment/summary.hpp"

namespace equinorm::lab::report {

struct Table {
  std::string caption;
  std::string note;  ///< below the table; may be empty
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  ///< first cell: what the row is about
};

/// The article's table beside what was measured.
[[nodiscard]] Table claim_table(const TaskSummary& task);

/// Paired differences to the baseline, with the verdict on the article's order.
[[nodiscard]] Table difference_table(const TaskSummary& task);

/// Failures of each kind over all learning rates.
[[nodiscard]] Table failure_table(const TaskSummary& task);

/// What the runs of each task share: model and training.
[[nodiscard]] Table settings_table(const Comparison& comparison, const Summary& summary);

/// Where the data came from, with licence and checksum.
[[nodiscard]] Table data_table(const Summary& summary);

[[nodiscard]] Table environment_table(const CompareRequest& request);

/// Every finished or crashed run with its directory.
[[nodiscard]] Table run_table(const Comparison& comparison);

/// One sentence per task, joined: which arms did better or worse than the baseline, and for which
/// no difference was found.
[[nodiscard]] std::string answer(const Summary& summary);

}  // namespace equinorm::lab::report
