// Times several contenders side by side: in every round each runs once, in an order that rotates,
// so that a change of clock speed or a busy neighbour meets all of them alike.
//
// What it isn't: a profiler. The one trap: compare contenders by the ratios of a round (ratio()),
// not by their medians, which may come from different moments.
#pragma once

#include <cstdint>
#include <vector>

#include "case.hpp"

namespace equinorm::bench {

struct Quartiles {
  double lower = 0;
  double median = 0;
  double upper = 0;
};

/// Quartiles with linear interpolation; `values` must not be empty.
Quartiles quartiles(std::vector<double> values);

struct Timing {
  std::int64_t calls_per_round = 0;  ///< scaled so that a round takes about half a millisecond
  std::vector<double> seconds;       ///< per call, one for each round
};

/// Times all contenders for about `seconds` together, at least 5 rounds.
std::vector<Timing> time_alternating(const std::vector<Contender>& contenders, double seconds);

/// Quartiles over rounds of numerator's time divided by denominator's in the same round.
Quartiles ratio(const Timing& numerator, const Timing& denominator);

}  // namespace equinorm::bench
