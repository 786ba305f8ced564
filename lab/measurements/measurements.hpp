// The measurements that declarations may name: one file each, one line in measurements.cpp.
#pragma once

#include <vector>

#include "lab/evidence/measurement.hpp"

namespace equinorm::lab {

[[nodiscard]] const std::vector<Measurement>& measurements();

// In the order of the list. Each reads and checks its parameters and does nothing else yet.
Measure prepare_dependence(Parameters& parameters);
Measure prepare_standardization(Parameters& parameters);
Measure prepare_form_difference(Parameters& parameters);
Measure prepare_printed_example(Parameters& parameters);
Measure prepare_attention_bound(Parameters& parameters);
Measure prepare_softmax_scale(Parameters& parameters);
Measure prepare_score_variance(Parameters& parameters);
Measure prepare_initial_signal(Parameters& parameters);
Measure prepare_eps_rows(Parameters& parameters);
Measure prepare_gain_gradient(Parameters& parameters);
Measure prepare_norm_error(Parameters& parameters);
Measure prepare_speed(Parameters& parameters);

}  // namespace equinorm::lab
