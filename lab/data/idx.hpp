// IDX files (the format of MNIST) and the labelled image sets made of four of them.
//
// Only unsigned bytes: images with three axes, labels with one. Files may be gzipped, with or
// without ".gz" in the name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace equinorm::lab {

struct IdxArray {
  std::vector<std::int64_t> shape;
  std::vector<unsigned char> values;  ///< row-major
};

/// Throws InputError for a missing or damaged file, a wrong element type and a wrong number of
/// axes.
IdxArray read_idx(const std::filesystem::path& path, int axes);

struct ImageSet {
  std::int64_t count = 0;
  std::vector<unsigned char> pixels;  ///< count x rows x cols
  std::vector<unsigned char> labels;  ///< count
};

struct ImageData {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  int classes = 0;    ///< largest training label + 1
  double mean = 0;    ///< of the training pixels, 0 to 255
  double stddev = 1;  ///< likewise
  ImageSet train;
  ImageSet test;
};

/// Fills in mean and stddev from the training pixels.
void measure_pixels(ImageData& data);

/// Names of the four files, in the order train images, train labels, test images, test labels.
const std::vector<std::string>& idx_file_names();

/// `name` in `directory`, with or without .gz. Throws InputError, naming both, where it is missing.
std::filesystem::path find_idx_file(const std::filesystem::path& directory,
                                    const std::string& name);

/// Reads train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
/// t10k-labels-idx1-ubyte, each optionally with .gz, and checks that they belong together.
ImageData read_image_directory(const std::filesystem::path& directory);

}  // namespace equinorm::lab
