// The measurements that declarations may name: one file each, one line in measurements.cpp.
#pragma once

#include <vector>

#include "lab/evidence/measurement.hpp"

namespace equinorm::lab {

[[nodiscard]] const std::vector<Measurement>& measurements();

// In the order of the list. Each reads and checks its parameters and does nothing else yet.
Measure prepare_dependence(Parameters& parameters);

}  // namespace equinorm::lab
