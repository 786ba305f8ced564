// IDX files: two zero bytes, element type, number of axes, big-endian sizes, then the elements.
#include "lab/data/idx.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <system_error>

#include "lab/data/files.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

constexpr unsigned char kUnsignedByte = 0x08;

std::uint32_t big_endian(const unsigned char* bytes) {
  return (std::uint32_t{bytes[0]} << 24) | (std::uint32_t{bytes[1]} << 16) |
         (std::uint32_t{bytes[2]} << 8) | std::uint32_t{bytes[3]};
}

std::string hex(const unsigned char* bytes, int count) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

struct SetAndShape {
  ImageSet set;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

SetAndShape read_set(const std::filesystem::path& directory, const std::string& images_name,
                     const std::string& labels_name) {
  const auto images_path = find_idx_file(directory, images_name);
  const auto labels_path = find_idx_file(directory, labels_name);
  IdxArray images = read_idx(images_path, 3);
  IdxArray labels = read_idx(labels_path, 1);
  if (images.shape[0] != labels.shape[0]) {
    throw InputError("'" + images_path.string() + "' holds " + std::to_string(images.shape[0]) +
                     " images, '" + labels_path.string() + "' " + std::to_string(labels.shape[0]) +
                     " labels: the counts must be equal");
  }
  if (images.values.empty()) throw InputError("'" + images_path.string() + "' holds no pixels");
  return {{images.shape[0], std::move(images.values), std::move(labels.values)},
          images.shape[1],
          images.shape[2]};
}

}  // namespace

// Integer sums, so the result doesn't depend on an order of summation.
void measure_pixels(ImageData& data) {
  std::uint64_t sum = 0;
  std::uint64_t squares = 0;
  for (const unsigned char pixel : data.train.pixels) {
    sum += pixel;
    squares += std::uint64_t{pixel} * pixel;
  }
  const auto count = static_cast<double>(data.train.pixels.size());
  data.mean = static_cast<double>(sum) / count;
  const double variance = static_cast<double>(squares) / count - data.mean * data.mean;
  data.stddev = variance > 0 ? std::sqrt(variance) : 1.0;
}

IdxArray read_idx(const std::filesystem::path& path, int axes) {
  const std::string where = "IDX file '" + path.string() + "'";
  std::vector<unsigned char> bytes = read_maybe_gzip(path);
  const std::size_t header = 4 + 4 * static_cast<std::size_t>(axes);
  if (bytes.size() < 4) {
    throw InputError(where + " is truncated: " + std::to_string(bytes.size()) +
                     " bytes, the header alone has " + std::to_string(header));
  }
  const unsigned char expected[4] = {0, 0, kUnsignedByte, static_cast<unsigned char>(axes)};
  if (!std::equal(expected, expected + 4, bytes.begin())) {
    throw InputError(where + " begins with magic number " + hex(bytes.data(), 4) + ", expected " +
                     hex(expected, 4) + " (unsigned bytes, " + std::to_string(axes) + " axes)");
  }
  if (bytes.size() < header) {
    throw InputError(where + " is truncated: " + std::to_string(bytes.size()) +
                     " bytes, the header alone has " + std::to_string(header));
  }
  IdxArray array;
  std::size_t elements = 1;
  for (int axis = 0; axis < axes; ++axis) {
    const std::uint32_t size = big_endian(bytes.data() + 4 + 4 * axis);
    if (size != 0 && elements > std::numeric_limits<std::size_t>::max() / size) {
      throw InputError(where + ": its sizes overflow");
    }
    array.shape.push_back(size);
    elements *= size;
  }
  const std::size_t present = bytes.size() - header;
  if (present != elements) {
    throw InputError(where + (present < elements ? " is truncated: " : " is too long: ") +
                     std::to_string(present) + " bytes of data, its header announces " +
                     std::to_string(elements));
  }
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header));
  array.values = std::move(bytes);
  return array;
}

const std::vector<std::string>& idx_file_names() {
  static const std::vector<std::string> names = {
      "train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
      "t10k-labels-idx1-ubyte"};
  return names;
}

std::filesystem::path find_idx_file(const std::filesystem::path& directory,
                                    const std::string& name) {
  for (const char* suffix : {"", ".gz"}) {
    std::filesystem::path path = directory / (name + suffix);
    std::error_code error;
    if (std::filesystem::exists(path, error)) return path;
  }
  throw InputError("'" + directory.string() + "' has no " + name + " and no " + name +
                   ".gz; a labelled image set needs the four files train-images-idx3-ubyte, "
                   "train-labels-idx1-ubyte, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte");
}

ImageData read_image_directory(const std::filesystem::path& directory) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) {
    throw InputError("'" + directory.string() + "' is not a directory");
  }
  const auto& names = idx_file_names();
  SetAndShape train = read_set(directory, names[0], names[1]);
  SetAndShape test = read_set(directory, names[2], names[3]);
  if (train.rows != test.rows || train.cols != test.cols) {
    throw InputError("'" + directory.string() + "': training images are " +
                     std::to_string(train.rows) + " x " + std::to_string(train.cols) +
                     ", test images " + std::to_string(test.rows) + " x " +
                     std::to_string(test.cols) + ": the sizes must be equal");
  }
  ImageData data{.rows = train.rows,
                 .cols = train.cols,
                 .train = std::move(train.set),
                 .test = std::move(test.set)};
  data.classes = *std::max_element(data.train.labels.begin(), data.train.labels.end()) + 1;
  const int largest = *std::max_element(data.test.labels.begin(), data.test.labels.end());
  if (largest >= data.classes) {
    throw InputError("'" + directory.string() + "': a test image has label " +
                     std::to_string(largest) + ", the largest training label is " +
                     std::to_string(data.classes - 1));
  }
  measure_pixels(data);
  return data;
}

}  // namespace equinorm::lab
