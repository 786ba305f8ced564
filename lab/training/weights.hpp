// What a run has learned, as a file of its directory.
#pragma once

#include <filesystem>
#include <vector>

#include "lab/models/parameters.hpp"

namespace equinorm::lab {

/// Writes the parameters by name in the format of safetensors, atomically: 8 bytes with the length
/// of a JSON header, the header (type, shape and place of each tensor), the f32 numbers,
/// little-endian.
void write_weights(const std::filesystem::path& file, const std::vector<Parameter>& parameters);

}  // namespace equinorm::lab
