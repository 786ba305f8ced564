// A word about memory before it runs out in the middle of the work.
#pragma once

#include <cstdint>

namespace equinorm::cli {

/// Throws UsageError where --rows x --cols elements need more than this machine's memory.
void require_memory(std::int64_t rows, std::int64_t cols, double bytes_per_element);

}  // namespace equinorm::cli
