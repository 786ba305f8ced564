// Contenders that work on at::Tensor: PyTorch, and Equinorm through its LibTorch front end.
// Both are called the same way, allocate their outputs and, backward, go through autograd.
#pragma once

#include <vector>

#include "case.hpp"
#include "tensors.hpp"

namespace equinorm::bench {

/// "equinorm.torch" and "pytorch". `tensors` must outlive them.
std::vector<Contender> torch_contenders(const Case& c, const Tensors& tensors);

}  // namespace equinorm::bench
