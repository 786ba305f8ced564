// Memory of one call besides the workspace, aligned for the kernels. Null where there is none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>

#include "check.h"
#include "kernels/kernel_types.h"

namespace equinorm {

struct FreeAligned {
  void operator()(double* p) const noexcept { ::operator delete (p, std::align_val_t{64}); }
};
using AlignedDoubles = std::unique_ptr<double[], FreeAligned>;

/// Zeros, with room for `count` elements rounded up to whole vectors.
inline AlignedDoubles aligned_doubles(std::int64_t count) noexcept {
  const auto room =
      static_cast<std::size_t>(kernels::Scratch::padded(std::max<std::int64_t>(count, 1)));
  auto* place = static_cast<double*>(
      ::operator new (room * sizeof(double), std::align_val_t{64}, std::nothrow));
  if (place != nullptr) std::fill_n(place, room, 0.0);
  return AlignedDoubles(place);
}

inline Status no_memory() noexcept {
  Status status = invalid("x", Value("too large"), "workspace must fit into memory");
  status.code = StatusCode::out_of_memory;
  return status;
}

}  // namespace equinorm
