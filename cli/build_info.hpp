// What this executable was built from and with; the values come from CMakeLists.txt.
#pragma once

#include <string>

namespace equinorm::cli {

struct BuildInfo {
  const char* version;     ///< "0.1.0"
  const char* compiler;    ///< "GNU 12.2.0"
  const char* build_type;  ///< "Release"
  const char* sanitizers;  ///< "" or "address,undefined"
  const char* torch;       ///< version of PyTorch built against, "" without
  long openmp;             ///< value of _OPENMP, 0 without
};

BuildInfo build_info() noexcept;

/// "equinorm 0.1.0, numerics 1".
std::string version_line();

}  // namespace equinorm::cli
