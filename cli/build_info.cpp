#include "build_info.hpp"

#include <fmt/format.h>

#include "equinorm/types.hpp"

namespace equinorm::cli {

BuildInfo build_info() noexcept {
  return {
      .version = EQUINORM_VERSION,
      .compiler = EQUINORM_COMPILER,
      .build_type = EQUINORM_BUILD_TYPE,
      .sanitizers = EQUINORM_SANITIZERS,
      .torch = EQUINORM_TORCH_VERSION,
#ifdef _OPENMP
      .openmp = _OPENMP,
#else
      .openmp = 0,
#endif
  };
}

std::string version_line() {
  return fmt::format("equinorm {}, numerics {}", build_info().version, kNumericsVersion);
}

}  // namespace equinorm::cli
