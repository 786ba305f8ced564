// SHA-256 of bytes in memory, as 64 hexadecimal digits.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace equinorm::lab {

std::string sha256_hex(std::span<const unsigned char> bytes);
std::string sha256_hex(std::string_view text);

}  // namespace equinorm::lab
