// Normalizes a file of f32 rows that need not fit into the cache, or into memory: the file is
// mapped and goes through the library in chunks of rows, in place or into a second mapped file.
// With
// --make it writes such a file. Linux; the numbers are in the machine's byte order.
//
// The one trap: a write to a mapping of a full disk ends the process, so the space of an output is
// reserved before it is mapped.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <equinorm/equinorm.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 40;  // rows times columns of a file
constexpr std::int64_t kChunkNumbers = 4 << 20;        // 16 MiB

constexpr const char* kUsage = R"(Usage: mapped_file --cols N [--rms] [--chunk-rows N] FILE [OUTPUT]
       mapped_file --make --rows N --cols N FILE

Normalizes each row of N f32 numbers of FILE, in place or into OUTPUT, by LayerNorm (with --rms by
RMSNorm), and prints what the rows are like afterwards.

  --cols N        numbers per row
  --rms           RMSNorm instead of LayerNorm
  --chunk-rows N  rows per call of the library; default: 16 MiB of them
  --make          write FILE: --rows N rows of pseudo-random numbers, the same each time

Example:
  mapped_file --make --rows 32768 --cols 1024 rows.f32
  mapped_file --cols 1024 rows.f32 normalized.f32
)";

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void fail(const std::string& path, const std::string& what, int error = errno) {
  throw std::runtime_error(path + ": " + what + ": " + std::strerror(error));
}

struct Options {
  bool make = false;
  bool rms = false;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t chunk_rows = 0;
  std::vector<std::string> files;
};

std::int64_t positive_number(std::string_view name, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > kMost) {
    throw UsageError(std::string(name) + " = '" + std::string(text) + "': must be from 1 to 2^40");
  }
  return value;
}

Options parse(const std::vector<std::string_view>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const auto number = [&] {
      if (i + 1 == words.size()) throw UsageError(std::string(word) + ": needs a number");
      return positive_number(word, words[++i]);
    };
    if (word == "--make") {
      options.make = true;
    } else if (word == "--rms") {
      options.rms = true;
    } else if (word == "--rows") {
      options.rows = number();
    } else if (word == "--cols") {
      options.cols = number();
    } else if (word == "--chunk-rows") {
      options.chunk_rows = number();
    } else if (word.starts_with("--")) {
      throw UsageError("unknown option '" + std::string(word) + "'");
    } else {
      options.files.emplace_back(word);
    }
  }
  if (options.cols == 0) throw UsageError("--cols is missing");
  if (options.make != (options.rows > 0)) throw UsageError("--make and --rows belong together");
  if (options.files.empty()) throw UsageError("FILE is missing");
  if (options.files.size() > (options.make ? 1U : 2U)) throw UsageError("too many files");
  if (options.rows > kMost / options.cols) throw UsageError("--rows x --cols: must be below 2^40");
  return options;
}

// An open file as an array of f32.
class MappedFile {
 public:
  enum class Mode { read, change, create };

  // `numbers` counts with Mode::create alone.
  MappedFile(std::string path, Mode mode, std::int64_t numbers = 0) : path_(std::move(path)) {
    const bool reads = mode == Mode::read;
    const int flags = reads ? O_RDONLY : O_RDWR;
    descriptor_ = open(path_.c_str(), flags | (mode == Mode::create ? O_CREAT : 0), 0666);
    if (descriptor_ < 0) fail(path_, "cannot be opened");
    struct stat state {};
    if (fstat(descriptor_, &state) != 0) fail(path_, "cannot be examined");
    if (!S_ISREG(state.st_mode)) throw std::runtime_error(path_ + ": is not a regular file");
    bytes_ = state.st_size;
    if (mode == Mode::create) reserve(numbers * static_cast<std::int64_t>(sizeof(float)));
    if (bytes_ == 0) return;
    const int protection = reads ? PROT_READ : PROT_READ | PROT_WRITE;
    void* mapped =
        mmap(nullptr, static_cast<std::size_t>(bytes_), protection, MAP_SHARED, descriptor_, 0);
    if (mapped == MAP_FAILED) fail(path_, "cannot be mapped");
    data_ = static_cast<float*>(mapped);
    madvise(mapped, static_cast<std::size_t>(bytes_), MADV_SEQUENTIAL);
  }
  ~MappedFile() {
    if (data_ != nullptr) munmap(data_, static_cast<std::size_t>(bytes_));
    if (descriptor_ >= 0) close(descriptor_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] float* data() const { return data_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  // Waits until the disk has it; errors of writing show here.
  void flush() const {
    if (data_ != nullptr && msync(data_, static_cast<std::size_t>(bytes_), MS_SYNC) != 0) {
      fail(path_, "cannot be written");
    }
  }

 private:
  // Asks before it takes: posix_fallocate would fill the disk first and fail then.
  void reserve(std::int64_t bytes) {
    struct statvfs disk {};
    if (fstatvfs(descriptor_, &disk) != 0) fail(path_, "cannot be examined");
    const std::uint64_t free_bytes = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
    if (static_cast<std::uint64_t>(bytes) > free_bytes + static_cast<std::uint64_t>(bytes_)) {
      throw std::runtime_error(path_ + ": needs " + std::to_string(bytes) + " bytes, but " +
                               std::to_string(free_bytes) + " are free");
    }
    if (ftruncate(descriptor_, bytes) != 0) fail(path_, "cannot be resized");
    if (const int error = posix_fallocate(descriptor_, 0, bytes); error != 0) {
      fail(path_, "has no space for " + std::to_string(bytes) + " bytes", error);
    }
    bytes_ = bytes;
  }

  std::string path_;
  int descriptor_ = -1;
  std::int64_t bytes_ = 0;
  float* data_ = nullptr;
};

bool same_file(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// Uniform in [-1, 1), plus an offset of the row; splitmix64.
void make(const Options& options) {
  const MappedFile file(options.files[0], MappedFile::Mode::create, options.rows * options.cols);
  std::uint64_t state = 1;
  for (std::int64_t i = 0; i < options.rows * options.cols; ++i) {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    const auto offset = static_cast<float>(i / options.cols % 10);
    file.data()[i] = std::ldexp(static_cast<float>((z >> 40) & 0xffffff), -23) - 1 + offset;
  }
  file.flush();
  std::printf("%s: %lld rows of %lld numbers\n", options.files[0].c_str(),
              static_cast<long long>(options.rows), static_cast<long long>(options.cols));
}

// What normalized rows are like.
struct Survey {
  double largest_mean = 0;
  double least_rms = HUGE_VAL;
  double largest_rms = 0;

  void add(const float* row, std::int64_t cols) {
    double sum = 0;
    double squares = 0;
    for (std::int64_t c = 0; c < cols; ++c) {
      sum += row[c];
      squares += static_cast<double>(row[c]) * row[c];
    }
    const double rms = std::sqrt(squares / static_cast<double>(cols));
    largest_mean = std::max(largest_mean, std::abs(sum / static_cast<double>(cols)));
    least_rms = std::min(least_rms, rms);
    largest_rms = std::max(largest_rms, rms);
  }
};

void normalize_chunk(const Options& options, equinorm::ConstRows x, equinorm::Rows y,
                     equinorm::Context& context) {
  const auto run = [&](auto args, auto forward) {
    args.x = x;
    args.y = y;
    args.eps = 1e-5;
    equinorm::check(forward(args, context));
  };
  if (options.rms) {
    run(equinorm::RmsNormForward(), equinorm::rms_norm_forward);
  } else {
    run(equinorm::LayerNormForward(), equinorm::layer_norm_forward);
  }
}

void normalize(const Options& options) {
  const std::string& input = options.files[0];
  const bool in_place = options.files.size() == 1 || same_file(input, options.files[1]);
  const MappedFile source(input, in_place ? MappedFile::Mode::change : MappedFile::Mode::read);
  const std::int64_t cols = options.cols;
  const std::int64_t row_bytes = cols * static_cast<std::int64_t>(sizeof(float));
  if (source.bytes() == 0 || source.bytes() % row_bytes != 0) {
    throw std::runtime_error(input + ": " + std::to_string(source.bytes()) +
                             " bytes are not a whole number of rows of " +
                             std::to_string(row_bytes) + " bytes");
  }
  const std::int64_t rows = source.bytes() / row_bytes;
  std::optional<MappedFile> second;
  if (!in_place) second.emplace(options.files[1], MappedFile::Mode::create, rows * cols);
  const MappedFile& target = second ? *second : source;
  const std::int64_t chunk =
      options.chunk_rows > 0 ? options.chunk_rows : std::max<std::int64_t>(1, kChunkNumbers / cols);
  equinorm::Context context;
  Survey survey;
  for (std::int64_t first = 0; first < rows; first += chunk) {
    const std::int64_t count = std::min(chunk, rows - first);
    const float* x = source.data() + first * cols;
    float* y = target.data() + first * cols;
    normalize_chunk(options, {x, equinorm::DType::f32, count, cols, cols},
                    {y, equinorm::DType::f32, count, cols, cols}, context);
    for (std::int64_t r = 0; r < count; ++r) survey.add(y + r * cols, cols);
  }
  target.flush();
  std::printf("%lld rows of %lld numbers, %.1f MiB, in chunks of %lld rows\n",
              static_cast<long long>(rows), static_cast<long long>(cols),
              static_cast<double>(source.bytes()) / (1 << 20), static_cast<long long>(chunk));
  std::printf("largest mean of a row %.1e, root mean square %.6f to %.6f\n", survey.largest_mean,
              survey.least_rms, survey.largest_rms);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    std::fputs(kUsage, words.empty() ? stderr : stdout);
    return words.empty() ? 2 : 0;
  }
  try {
    const Options options = parse(words);
    options.make ? make(options) : normalize(options);
    return 0;
  } catch (const UsageError& error) {
    std::fprintf(stderr, "mapped_file: %s\n'mapped_file --help' explains the options.\n",
                 error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mapped_file: %s\n", error.what());
    return 1;
  }
}
