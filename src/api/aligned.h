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

/// Room for `count` elements, rounded up to whole vectors.
inline AlignedDoubles aligned_doubles(std::int64_t count) noexcept {
  const auto bytes =
      static_cast<std::size_t>(kernels::Scratch::padded(std::max<std::int64_t>(count, 1))) *
      sizeof(double);
  return AlignedDoubles(
      static_cast<double*>(::operator new (bytes, std::align_val_t{64}, std::nothrow)));
}

inline Status no_memory() noexcept {
  Status status = invalid("x", Value("too large"), "workspace must fit into memory");
  status.code = StatusCode::out_of_memory;
  return status;
}

}  // namespace equinorm
