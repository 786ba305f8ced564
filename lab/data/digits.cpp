#include "lab/data/digits.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

constexpr std::size_t kSide = 8;
constexpr std::size_t kPixels = kSide * kSide;
constexpr std::int64_t kTestEvery = 6;

// The numbers of a line; empty where it holds something else.
std::vector<unsigned char> numbers_of(std::string_view line) {
  std::vector<unsigned char> numbers;
  const char* at = line.data();
  const char* const end = at + line.size();
  while (at != end) {
    unsigned char value = 0;
    const auto read = std::from_chars(at, end, value);
    if (read.ec != std::errc() || value > 16) return {};
    numbers.push_back(value);
    at = read.ptr;
    if (at == end) break;
    if (*at != ',' || ++at == end) return {};
  }
  return numbers;
}

}  // namespace

ImageData read_digits(std::string_view csv, const std::string& name) {
  ImageData data;
  data.rows = data.cols = kSide;
  std::int64_t count = 0;
  while (!csv.empty()) {
    const std::size_t end = std::min(csv.find('\n'), csv.size());
    const std::vector<unsigned char> numbers = numbers_of(csv.substr(0, end));
    csv.remove_prefix(std::min(end + 1, csv.size()));
    if (numbers.size() != kPixels + 1 || numbers.back() > 9) {
      throw InputError(name + ": line " + std::to_string(count + 1) +
                       ": must be 64 pixels from 0 to 16 and a digit, with commas between");
    }
    ImageSet& set = count++ % kTestEvery == 0 ? data.test : data.train;
    set.pixels.insert(set.pixels.end(), numbers.begin(), numbers.end() - 1);
    set.labels.push_back(numbers.back());
    ++set.count;
  }
  if (data.train.count < 2) throw InputError(name + " has fewer than two training images");
  data.classes = 10;
  measure_pixels(data);
  return data;
}

}  // namespace equinorm::lab
