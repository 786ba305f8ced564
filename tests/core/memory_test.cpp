// Where rows may lie: strided, repeated, reversed, interleaved, in place, far apart, and right
// before memory that must not be touched.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "support.hpp"

namespace equinorm::test {
namespace {

std::vector<float> normalized(Problem& p) {
  Context context;
  check(layer_norm_forward(p.layer_forward(), context));
  return p.y;
}

TEST(Inputs, StayAsTheyWere) {
  for (const auto& [rows, cols] : {std::pair{37, 1100}, {5, 3}, {33, 64}}) {
    Problem p(rows, cols);
    const auto before = p.input_bytes();
    Context context;
    check(layer_norm_forward(p.layer_forward(), context));
    check(layer_norm_backward(p.layer_backward(), context));
    check(rms_norm_forward(p.rms_forward(), context));
    check(rms_norm_backward(p.rms_backward(), context));
    EXPECT_EQ(p.input_bytes(), before);
  }
}

TEST(Rows, OfAWiderBufferGiveTheBitsOfACopy) {
  Problem p(9, 77);
  const auto expected = normalized(p);
  std::vector<float> wide(9 * 100, 3.5f), out(9 * 90, 4.5f);
  for (int r = 0; r < 9; ++r) std::copy_n(&p.x[r * 77], 77, &wide[r * 100 + 1]);
  LayerNormForward args = p.layer_forward();
  args.x.data = &wide[1];
  args.x.row_stride = 100;
  args.y.data = &out[3];
  args.y.row_stride = 90;
  Context context;
  check(layer_norm_forward(args, context));
  for (int r = 0; r < 9; ++r) {
    EXPECT_TRUE(std::equal(&expected[r * 77], &expected[r * 77] + 77, &out[r * 90 + 3])) << r;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool inside = i % 90 >= 3 && i % 90 < 80;
    EXPECT_TRUE(inside || out[i] == 4.5f) << "written beside a row, element " << i;
  }
}

TEST(Rows, MayBeTakenBackwards) {
  Problem p(6, 50);
  const auto expected = normalized(p);
  LayerNormForward args = p.layer_forward();
  args.x.data = &p.x[5 * 50];
  args.x.row_stride = -50;
  args.y.data = &p.y[5 * 50];
  args.y.row_stride = -50;
  std::fill(p.y.begin(), p.y.end(), 0.0f);
  Context context;
  check(layer_norm_forward(args, context));
  EXPECT_EQ(p.y, expected);
}

TEST(Rows, MayBeOneRowRepeated) {
  Problem p(6, 50);
  LayerNormForward args = p.layer_forward();
  args.x.row_stride = 0;
  Context context;
  check(layer_norm_forward(args, context));
  for (int r = 1; r < 6; ++r) EXPECT_TRUE(std::equal(&p.y[0], &p.y[0] + 50, &p.y[r * 50]));
  // An expanded gradient, as of a sum: dy of all rows is one row.
  Problem repeated(40, 50), copied(40, 50);
  for (std::size_t i = 50; i < copied.dy.size(); ++i) copied.dy[i] = copied.dy[i - 50];
  LayerNormBackward backward = repeated.layer_backward();
  backward.dy.row_stride = 0;
  check(layer_norm_backward(backward, context));
  check(layer_norm_backward(copied.layer_backward(), context));
  EXPECT_EQ(repeated.output_bytes(), copied.output_bytes());
}

TEST(Rows, InterleavedInOnePackedBufferMayBeInputAndOutput) {
  // q, k, v of a packed projection: k is normalized into the place of q.
  Problem p(8, 32);
  const auto expected = normalized(p);
  std::vector<float> packed(8 * 96, 9);
  for (int r = 0; r < 8; ++r) std::copy_n(&p.x[r * 32], 32, &packed[r * 96 + 32]);
  LayerNormForward args = p.layer_forward();
  args.x.data = &packed[32];
  args.y.data = &packed[0];
  args.x.row_stride = args.y.row_stride = 96;
  Context context;
  check(layer_norm_forward(args, context));
  for (int r = 0; r < 8; ++r) {
    EXPECT_TRUE(std::equal(&p.x[r * 32], &p.x[r * 32] + 32, &packed[r * 96 + 32]));
    EXPECT_TRUE(std::equal(&expected[r * 32], &expected[r * 32] + 32, &packed[r * 96]));
  }
  // One element closer together and they overlap.
  args.y.data = &packed[1];
  EXPECT_STREQ(layer_norm_forward(args, context).value, "overlaps x");
}

TEST(Rows, MayBeNormalizedInPlace) {
  Problem p(8, 130);
  const auto expected = normalized(p);
  LayerNormForward args = p.layer_forward();
  args.y.data = p.x.data();
  Context context;
  check(layer_norm_forward(args, context));
  EXPECT_EQ(p.x, expected);
}

TEST(Gradient, MayTakeThePlaceOfEitherInput) {
  Context context;
  Problem apart(70, 130);
  check(layer_norm_backward(apart.layer_backward(), context));
  for (const bool on_x : {true, false}) {
    Problem p(70, 130);
    LayerNormBackward args = p.layer_backward();
    args.dx.data = on_x ? p.x.data() : p.dy.data();
    check(layer_norm_backward(args, context));
    EXPECT_EQ(on_x ? p.x : p.dy, apart.dx);
    EXPECT_EQ(p.dgamma, apart.dgamma);
    EXPECT_EQ(p.dbeta, apart.dbeta);
  }
}

TEST(Gradient, MayTakeThePlaceOfBothInputsAtOnce) {
  // x = dy = dx = [1, 0, 0, 0], eps = 1e-4: xhat = rstd, dx = rstd (1 - rstd^2 / 4) at 0.
  const double rstd = 1 / std::sqrt(0.2501);
  const double expected = rstd * (1 - rstd * rstd / 4);
  // The stated bounds: 4 scale ulp of f32; exact, half an ulp and 4 scale ulp of f64 (2^-27).
  const double scale_ulp = 0x1p-23 * rstd * (1 + rstd * rstd / 4);
  for (const auto& [accuracy, bound] :
       {std::pair{Accuracy::standard, 4 * scale_ulp},
        {Accuracy::exact, 0x1p-24 * expected + 0x1p-27 * scale_ulp}}) {
    std::vector<float> v = {1, 0, 0, 0};
    const Rows rows = {v.data(), DType::f32, 1, 4, 4};
    RmsNormBackward args;
    args.x = args.dy = rows;
    args.dx = rows;
    args.eps = 1e-4;
    Context context;
    context.set_accuracy(accuracy);
    check(rms_norm_backward(args, context));
    EXPECT_NEAR(v[0], expected, bound);
    EXPECT_EQ(v[1], 0);
    EXPECT_EQ(v[2], 0);
    EXPECT_EQ(v[3], 0);
  }
}

TEST(Gradient, OfOneOutputIsThatOfAll) {
  Context context;
  Problem all(70, 130);
  check(layer_norm_backward(all.layer_backward(), context));
  for (int wanted = 0; wanted < 8; ++wanted) {
    Problem p(70, 130);
    LayerNormBackward args = p.layer_backward();
    if (!(wanted & 1)) args.dx.data = nullptr;
    if (!(wanted & 2)) args.dgamma.data = nullptr;
    if (!(wanted & 4)) args.dbeta.data = nullptr;
    check(layer_norm_backward(args, context));
    const auto untouched = [](std::size_t n) { return std::vector<float>(n, Problem::kUntouched); };
    EXPECT_EQ(p.dx, wanted & 1 ? all.dx : untouched(70 * 130));
    EXPECT_EQ(p.dgamma, wanted & 2 ? all.dgamma : untouched(130));
    EXPECT_EQ(p.dbeta, wanted & 4 ? all.dbeta : untouched(130));
  }
}

/// Address space without memory until it is touched.
class Mapping {
 public:
  explicit Mapping(std::size_t bytes) : bytes_(bytes) {
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~Mapping() {
    if (ok()) munmap(data_, bytes_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  bool ok() const { return data_ != MAP_FAILED; }
  char* data() const { return static_cast<char*>(data_); }

 private:
  void* data_;
  std::size_t bytes_;
};

TEST(Rows, MayLieMoreThan32BitsOfElementsApart) {
  constexpr std::int64_t kStride = (std::int64_t{1} << 31) + 8;
  constexpr std::int64_t kCols = 24;
  Mapping x_memory((2 * kStride + kCols) * sizeof(float));
  Mapping y_memory((2 * kStride + kCols) * sizeof(float));
  ASSERT_TRUE(x_memory.ok() && y_memory.ok()) << "needs 2 x 17 GB of address space";
  Problem p(3, kCols);
  const auto expected = normalized(p);
  auto* x = reinterpret_cast<float*>(x_memory.data());
  auto* y = reinterpret_cast<float*>(y_memory.data());
  for (int r = 0; r < 3; ++r) std::copy_n(&p.x[r * kCols], kCols, x + r * kStride);
  LayerNormForward args = p.layer_forward();
  args.x.data = x;
  args.y.data = y;
  args.x.row_stride = args.y.row_stride = kStride;
  Context context;
  check(layer_norm_forward(args, context));
  for (int r = 0; r < 3; ++r) {
    EXPECT_TRUE(std::equal(&expected[r * kCols], &expected[r * kCols] + kCols, y + r * kStride));
  }
}

/// `bytes` that end at a page which may not be touched, and begin after one.
class Fenced {
 public:
  explicit Fenced(std::size_t bytes)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        inner_((bytes + page_ - 1) / page_ * page_),
        memory_(inner_ + 2 * page_),
        bytes_(bytes) {
    mprotect(memory_.data(), page_, PROT_NONE);
    mprotect(memory_.data() + page_ + inner_, page_, PROT_NONE);
  }
  char* at_end() const { return memory_.data() + page_ + inner_ - bytes_; }
  char* at_begin() const { return memory_.data() + page_; }

 private:
  std::size_t page_, inner_;
  Mapping memory_;
  std::size_t bytes_;
};

/// Every buffer of a call at the edge of its pages, for all storage types.
void run_between_fences(std::int64_t cols, DType type, bool at_end, Context& context) {
  const std::size_t size = size_of(type);
  const auto bytes = static_cast<std::size_t>(2 * cols) * size;
  Fenced x(bytes), dy(bytes), y(bytes), dx(bytes);
  Fenced gamma(bytes / 2), beta(bytes / 2), dgamma(bytes / 2), dbeta(bytes / 2);
  const auto place = [&](const Fenced& f) { return at_end ? f.at_end() : f.at_begin(); };
  const auto rows = [&](const Fenced& f) { return Rows{place(f), type, 2, cols, cols}; };
  const auto vector = [&](const Fenced& f) { return Vector{place(f), type, cols}; };
  LayerNormForward forward;
  forward.x = rows(x);
  forward.gamma = vector(gamma);
  forward.beta = vector(beta);
  forward.y = rows(y);
  check(layer_norm_forward(forward, context));
  LayerNormBackward backward;
  backward.dy = rows(dy);
  backward.x = rows(x);
  backward.gamma = vector(gamma);
  backward.dx = rows(dx);
  backward.dgamma = vector(dgamma);
  backward.dbeta = vector(dbeta);
  check(layer_norm_backward(backward, context));
}

TEST(Rows, AreNeverReadOrWrittenBeyondTheirEnds) {
  // Zeros everywhere, so both the standard path (eps > 0) and whole rows are covered.
  for (const Isa isa : available_isas()) {
    for (const Accuracy accuracy : {Accuracy::standard, Accuracy::exact}) {
      Context context;
      ASSERT_TRUE(context.set_isa(isa).ok());
      context.set_accuracy(accuracy);
      for (const DType type : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
        for (const std::int64_t cols :
             {1, 2, 3, 5, 7, 8, 9, 15, 17, 31, 33, 63, 65, 127, 513, 1023}) {
          for (const bool at_end : {true, false}) run_between_fences(cols, type, at_end, context);
        }
      }
    }
  }
}

}  // namespace
}  // namespace equinorm::test
