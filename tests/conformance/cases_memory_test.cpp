// Faults that users of other normalizations reported: shapes, strides, aliasing, types, batches.
#include <sys/mman.h>

#include <cstring>

#include "conformance/random.hpp"
#include "example.hpp"

namespace equinorm::conformance {
namespace {

std::vector<double> normal(std::int64_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values(static_cast<std::size_t>(n));
  for (double& v : values) v = random.normal();
  return values;
}

TEST(MemoryCase, EmptyShapesAreValid) {
  for (const Op op : kBothOps) {
    for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{0, 7}, {4, 0}, {0, 0}}) {
      for (const Direction direction : {Direction::forward, Direction::backward}) {
        Problem problem;
        problem.op = op;
        problem.direction = direction;
        problem.rows = rows;
        problem.cols = cols;
        problem.beta = op == Op::layer_norm && direction == Direction::forward;
        const Inputs inputs = make_inputs(problem);
        const Outputs outputs = expected(problem, inputs);
        for (const double v : numbers(outputs.dgamma, DType::f32)) EXPECT_EQ(v, 0);
        Context context;
        for (const Isa isa : available_isas()) {
          Execution execution;
          execution.isa = isa;
          for (const bool statistics : {false, true}) {
            execution.statistics = statistics;
            EXPECT_EQ(compare(problem, inputs, outputs, execution, context), "");
          }
        }
      }
    }
  }
}

// (B, S, D) is (B * S, D): what a view with one stride holds; the batch must not show.
TEST(MemoryCase, ThreeAxesEqualTheFlattenedOnes) {
  const std::vector<double> x = normal(6 * 50, 1);
  for (const Op op : kBothOps) {
    const std::vector<double> all = run_everywhere(example(op, DType::f32, x, 1e-5, 6)).y;
    const std::vector<double> half(x.begin() + 150, x.end());
    const std::vector<double> second = run_everywhere(example(op, DType::f32, half, 1e-5, 3)).y;
    EXPECT_EQ(std::vector<double>(all.begin() + 150, all.end()), second);
  }
}

TEST(MemoryCase, HeadsOfAPackedTensorEqualTheirCopies) {
  constexpr std::int64_t kTokens = 5;
  constexpr std::int64_t kHead = 64;
  std::vector<float> packed;
  for (const double v : normal(kTokens * 3 * kHead, 2)) packed.push_back(static_cast<float>(v));
  Context context;
  for (int head = 0; head < 3; ++head) {
    std::vector<float> copy;
    for (std::int64_t t = 0; t < kTokens; ++t) {
      const float* row = packed.data() + (t * 3 + head) * kHead;
      copy.insert(copy.end(), row, row + kHead);
    }
    std::vector<float> from_view(copy.size());
    std::vector<float> from_copy(copy.size());
    RmsNormForward args;
    args.x = {packed.data() + head * kHead, DType::f32, kTokens, kHead, 3 * kHead};
    args.y = {from_view.data(), DType::f32, kTokens, kHead, kHead};
    check(rms_norm_forward(args, context));
    args.x = {copy.data(), DType::f32, kTokens, kHead, kHead};
    args.y.data = from_copy.data();
    check(rms_norm_forward(args, context));
    EXPECT_EQ(from_view, from_copy);
  }
}

TEST(MemoryCase, ExpandedGradientEqualsItsCopies) {
  constexpr std::int64_t kRows = 40;
  constexpr std::int64_t kCols = 33;
  std::vector<float> x;
  std::vector<float> dy;
  for (const double v : normal(kRows * kCols, 3)) x.push_back(static_cast<float>(v));
  for (const double v : normal(kCols, 4)) dy.push_back(static_cast<float>(v));
  std::vector<float> copies;
  for (std::int64_t r = 0; r < kRows; ++r) copies.insert(copies.end(), dy.begin(), dy.end());
  Context context;
  std::vector<float> results[2];
  for (const bool expanded : {true, false}) {
    std::vector<float> out(kRows * kCols + 2 * kCols);
    LayerNormBackward args;
    args.x = {x.data(), DType::f32, kRows, kCols, kCols};
    args.dy = {expanded ? dy.data() : copies.data(), DType::f32, kRows, kCols,
               expanded ? 0 : kCols};
    args.dx = {out.data(), DType::f32, kRows, kCols, kCols};
    args.dgamma = {out.data() + kRows * kCols, DType::f32, kCols};
    args.dbeta = {out.data() + kRows * kCols + kCols, DType::f32, kCols};
    check(layer_norm_backward(args, context));
    results[expanded ? 0 : 1] = out;
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(MemoryCase, InPlaceGradientsEqualTheOthers) {
  const auto of = [](DType type) {
    return backward(example(Op::rms_norm, type, {1, 0, 0, 0}, 1e-4), {1, 0, 0, 0});
  };
  expect_values(run_everywhere(of(DType::f64)).dx, {0.00079952, 0, 0, 0}, 5e-9);
  const Example e = of(DType::f32);
  const Outputs outputs = expected(e.problem, e.inputs);
  // In f32 dx cancels: 4 scale ulp at the scale rstd (|g| + |xhat| mean|g xhat|) = 4.
  EXPECT_NEAR(numbers(outputs.dx, DType::f32)[0], 0.00079952, 4 * 4 * 0x1p-23);
  Context context;
  for (const Isa isa : available_isas()) {
    for (const InPlace in_place : {InPlace::no, InPlace::on_x, InPlace::on_dy}) {
      Execution execution;
      execution.isa = isa;
      execution.in_place = in_place;
      EXPECT_EQ(compare(e.problem, e.inputs, outputs, execution, context), "");
    }
  }
}

// Memory that is never touched costs nothing: 2^31 elements between rows.
TEST(MemoryCase, RowsBeyondThirtyTwoBitOffsetsAreRead) {
  constexpr std::int64_t kStride = (std::int64_t{1} << 31) + 8;
  constexpr std::int64_t kCols = 65;
  const std::size_t bytes = static_cast<std::size_t>(2 * kStride + kCols) * sizeof(float);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED) << "17 GB of address space";
  auto* x = static_cast<float*>(memory);
  std::vector<float> rows;
  for (const double v : normal(3 * kCols, 5)) rows.push_back(static_cast<float>(v));
  for (std::int64_t r = 0; r < 3; ++r) {
    std::memcpy(x + r * kStride, rows.data() + r * kCols, kCols * sizeof(float));
  }
  std::vector<float> expected_y(rows.size());
  LayerNormForward args;
  args.x = {rows.data(), DType::f32, 3, kCols, kCols};
  args.y = {expected_y.data(), DType::f32, 3, kCols, kCols};
  reference::layer_norm_forward(args);
  std::vector<float> y(rows.size());
  args.x = {x, DType::f32, 3, kCols, kStride};
  args.y.data = y.data();
  Context context;
  EXPECT_TRUE(layer_norm_forward(args, context).ok());
  EXPECT_EQ(y, expected_y);
  munmap(memory, bytes);
}

TEST(MemoryCase, MixedTypesEqualTheWidenedComputation) {
  for (const Op op : kBothOps) {
    Example e = with_affine(example(op, DType::bf16, normal(4 * 100, 6), 1e-5, 4), normal(100, 7),
                            op == Op::layer_norm ? normal(100, 8) : std::vector<double>{});
    const std::vector<double> narrow = run_everywhere(e).y;
    e.problem.types.x = e.problem.types.y = e.problem.types.parameter = DType::f32;
    const std::vector<double> wide = run_everywhere(e).y;
    EXPECT_EQ(narrow, rounded(wide, DType::bf16));
    e.problem.types.x = DType::bf16;
    EXPECT_EQ(run_everywhere(e).y, wide);
    e.problem.types.x = DType::f32;
    e.problem.types.parameter = DType::bf16;
    EXPECT_EQ(run_everywhere(e).y, wide);
  }
}

TEST(MemoryCase, BadEpsIsAnError) {
  const std::vector<float> x = {1, 2, 3};
  std::vector<float> y = {7, 7, 7};
  Context context;
  for (const double eps : {-1.0, std::nan("")}) {
    LayerNormForward args;
    args.x = {x.data(), DType::f32, 1, 3, 3};
    args.y = {y.data(), DType::f32, 1, 3, 3};
    args.eps = eps;
    const Status status = layer_norm_forward(args, context);
    EXPECT_EQ(status.code, StatusCode::invalid_argument);
    EXPECT_STREQ(status.argument, "eps");
    EXPECT_EQ(y, (std::vector<float>{7, 7, 7}));
  }
}

TEST(MemoryCase, ARowDoesNotKnowItsBatch) {
  for (const Op op : kBothOps) {
    for (const DType type : kAllTypes) {
      for (const std::int64_t rows : {255, 256, 1000}) {
        const Example e = example(op, type, normal(rows * 70, 9), 1e-5, rows);
        const Outputs outputs = expected(e.problem, e.inputs);
        Context context;
        for (const Isa isa : available_isas()) {
          Execution execution;
          execution.isa = isa;
          for (const int threads : {1, 2, Context().threads()}) {
            execution.threads = threads;
            execution.only_row.reset();
            EXPECT_EQ(compare(e.problem, e.inputs, outputs, execution, context), "");
            for (const std::int64_t row : {std::int64_t{0}, rows / 2, rows - 1}) {
              execution.only_row = row;
              EXPECT_EQ(compare(e.problem, e.inputs, outputs, execution, context), "");
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace equinorm::conformance
