// IDX files made up for tests.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../temporary_directory.hpp"
#include "lab/data/idx.hpp"

namespace equinorm::lab {

inline std::string idx_bytes(const std::vector<std::uint32_t>& shape, const std::string& values) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(shape.size())};
  for (const std::uint32_t size : shape) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((size >> shift) & 255);
  }
  return bytes + values;
}

inline std::string gzip(const std::string& bytes, const std::filesystem::path& scratch) {
  gzFile file = gzopen(scratch.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  return content_of(scratch);
}

/// `train` and `test` images of 4 x 3 pixels with labels 0, 1, 2, 0, ...; label l is bright in row
/// l.
inline void write_image_directory(const TemporaryDirectory& directory, int train, int test) {
  const auto& names = idx_file_names();
  const int counts[] = {train, test};
  for (int set = 0; set < 2; ++set) {
    std::string pixels;
    std::string labels;
    for (int i = 0; i < counts[set]; ++i) {
      const int label = i % 3;
      for (int row = 0; row < 4; ++row) {
        for (int col = 0; col < 3; ++col) {
          pixels += static_cast<char>(row == label ? 200 + (i * 7 + col) % 50 : (i + col) % 30);
        }
      }
      labels += static_cast<char>(label);
    }
    const auto count = static_cast<std::uint32_t>(counts[set]);
    directory.write(names[static_cast<std::size_t>(2 * set)], idx_bytes({count, 4, 3}, pixels));
    directory.write(names[static_cast<std::size_t>(2 * set + 1)], idx_bytes({count}, labels));
  }
}

}  // namespace equinorm::lab
