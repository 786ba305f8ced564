#include "memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "command.hpp"

namespace equinorm::cli {

void require_memory(std::int64_t rows, std::int64_t cols, double bytes_per_element) {
  const auto size = [](std::int64_t count) {
    return static_cast<double>(std::max<std::int64_t>(1, count));
  };
  const double needed = bytes_per_element * size(rows) * size(cols);
  const double present =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (needed <= present) return;
  throw UsageError(
      fmt::format("--rows {} --cols {}: needs about {:.0f} GB, and this machine has {:.0f}", rows,
                  cols, needed / 1e9, present / 1e9));
}

}  // namespace equinorm::cli
