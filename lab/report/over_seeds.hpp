// Values of several runs at the same steps, brought together.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "lab/experiment/run_store.hpp"
#include "lab/report/line_plot.hpp"

namespace equinorm::lab::report {

/// step -> finite values, one per run that has one there.
using StepValues = std::map<int, std::vector<double>>;

/// Calls `collect(run, put)`, which calls put(step, value) for each value; keeps the finite ones.
[[nodiscard]] StepValues gather(
    const std::vector<const Run*>& runs,
    const std::function<void(const Run&, const std::function<void(int, double)>&)>& collect);

[[nodiscard]] double mean_of(const std::vector<double>& values);

/// For what differs by factors; 0 where a value is not above 0, NaN for none.
[[nodiscard]] double geometric_mean(const std::vector<double>& values);

/// Mean over runs as line, lowest to highest as band (absent for a single run).
void add_to(Series& series, const StepValues& values);

}  // namespace equinorm::lab::report
