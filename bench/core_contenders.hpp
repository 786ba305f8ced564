// Contenders that need no framework.
#pragma once

#include "case.hpp"
#include "tensors.hpp"

namespace equinorm::bench {

/// Equinorm's C++ API on OpenMP threads, outputs reused. `tensors` must outlive the contender.
Contender core_contender(const Case& c, const Tensors& tensors);

/// memcpy by as many threads, of half the case's bytes: as many bytes are read and written in all.
Contender copy_contender(const Case& c);

}  // namespace equinorm::bench
