// Handwritten digits of 8 x 8 pixels (Alpaydin and Kaynak 1998) as a table of numbers.
#pragma once

#include <string>
#include <string_view>

#include "lab/data/idx.hpp"

namespace equinorm::lab {

/// Lines of 64 pixels from 0 to 16, row by row, and the digit, with commas between. Every sixth
/// image is a test image. Throws InputError, naming `name` and the line, for anything else.
ImageData read_digits(std::string_view csv, const std::string& name);

}  // namespace equinorm::lab
