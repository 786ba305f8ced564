// How exact LayerNorm and RMSNorm are when the row is far from zero, very large or very small:
// textbook algorithms, PyTorch and Equinorm against the truth oracle.
//
// Not a proof of the bounds (tests/conformance is): a picture of where the others fail.
#pragma once

#include <filesystem>
#include <string>

namespace equinorm::lab {

/// numerics.json as text; the same on every machine but for PyTorch's part. Takes a second or two.
[[nodiscard]] std::string measure_numerics();

/// Writes measure_numerics() to `file`, atomically; throws InputError.
void write_numerics(const std::filesystem::path& file);

}  // namespace equinorm::lab
