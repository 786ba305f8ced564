// Standard normal numbers that are the same on every machine with the same library of elementary
// functions; std::normal_distribution differs between standard libraries.
#pragma once

#include <ATen/core/Tensor.h>

#include "lab/models/random.hpp"

namespace equinorm::lab {

double draw_normal(Random& random);
double draw_uniform(Random& random);  ///< in (0, 1)

/// A tensor of standard normal numbers, rounded to `dtype` once.
at::Tensor normal_tensor(Random& random, at::IntArrayRef shape, at::ScalarType dtype = at::kFloat);

}  // namespace equinorm::lab
