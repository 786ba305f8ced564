// Strides, sharing, batches and threads: none of them may change a bit or an input.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "equinorm/torch/functional.hpp"
#include "tensor_checks.hpp"

namespace equinorm::tests {
namespace {

namespace eq = ::equinorm::torch;

struct Gradients {
  at::Tensor y, dx, dweight, dbias;
};

Gradients layer_norm_with_gradients(const at::Tensor& x, const at::Tensor& dy) {
  const auto cols = x.size(-1);
  const auto leaf = x.detach().requires_grad_();
  const auto weight = normal({cols}, x.scalar_type(), 31, 1, 0.3).requires_grad_();
  const auto bias = normal({cols}, x.scalar_type(), 32).requires_grad_();
  const auto y = eq::layer_norm(leaf, {cols}, weight, bias);
  const auto g = ::torch::autograd::grad({y}, {leaf, weight, bias}, {dy});
  return {y.detach(), g[0], g[1], g[2]};
}

Gradients rms_norm_with_gradients(const at::Tensor& x, const at::Tensor& dy) {
  const auto cols = x.size(-1);
  const auto leaf = x.detach().requires_grad_();
  const auto weight = normal({cols}, x.scalar_type(), 33, 1, 0.3).requires_grad_();
  const auto y = eq::rms_norm(leaf, {cols}, weight, 1e-6);
  const auto g = ::torch::autograd::grad({y}, {leaf, weight}, {dy});
  return {y.detach(), g[0], g[1], g[1]};
}

void expect_same(const Gradients& a, const Gradients& b) {
  EXPECT_TRUE(same_bits(a.y, b.y));
  EXPECT_TRUE(same_bits(a.dx, b.dx));
  EXPECT_TRUE(same_bits(a.dweight, b.dweight));
  EXPECT_TRUE(same_bits(a.dbias, b.dbias));
}

/// Views of every kind: collapsing to rows, not collapsing, last axis not contiguous.
std::vector<at::Tensor> views(at::ScalarType type) {
  const auto packed = normal({3, 5, 3 * 32}, type, 34);
  const auto heads = packed.view({3, 5, 3, 4, 8});
  const auto flat = normal({4 * 33 + 1}, type, 35);
  return {packed.slice(2, 0, 32),
          packed.slice(2, 32, 64),
          packed.slice(2, 64, 96),
          heads.select(2, 1),
          flat.slice(0, 1).view({4, 33}),
          normal({4, 34}, type, 36).slice(1, 1),
          normal({32, 6}, type, 37).t(),
          normal({2, 3, 32}, type, 38).transpose(0, 1),
          normal({1, 32}, type, 39).expand({5, 32}),
          normal({5, 1}, type, 40).expand({5, 32}),
          normal({6, 64}, type, 41).slice(1, 0, 64, 2)};
}

TEST(Layout, AViewGivesTheBitsOfItsContiguousCopy) {
  for (const auto type : all_types()) {
    for (const auto& x : views(type)) {
      SCOPED_TRACE(::testing::Message() << type << " " << x.sizes() << " " << x.strides());
      const auto dy = normal(x.sizes(), type, 42);
      expect_same(layer_norm_with_gradients(x, dy), layer_norm_with_gradients(x.contiguous(), dy));
      expect_same(rms_norm_with_gradients(x, dy), rms_norm_with_gradients(x.contiguous(), dy));
    }
  }
}

TEST(Layout, AGradientViewGivesTheBitsOfItsContiguousCopy) {
  for (const auto type : all_types()) {
    for (const auto& dy : views(type)) {
      SCOPED_TRACE(::testing::Message() << type << " " << dy.sizes() << " " << dy.strides());
      const auto x = normal(dy.sizes(), type, 43);
      expect_same(layer_norm_with_gradients(x, dy), layer_norm_with_gradients(x, dy.contiguous()));
      expect_same(rms_norm_with_gradients(x, dy), rms_norm_with_gradients(x, dy.contiguous()));
    }
  }
}

TEST(Layout, RowsThatCollapseAreReadInPlace) {
  const auto packed = normal({3, 5, 96}, at::kFloat, 44);
  const auto stride_of = [](const at::Tensor& x) {
    return eq::detail::row_stride(x.sizes(), x.strides(), 1);
  };
  EXPECT_EQ(stride_of(packed.slice(2, 32, 64)), 96);
  EXPECT_EQ(stride_of(packed.slice(2, 1)), 96);
  EXPECT_EQ(stride_of(packed[0][0].expand({7, 96})), 0);
  EXPECT_EQ(stride_of(packed), 96);
  EXPECT_EQ(stride_of(packed.select(0, 1).select(0, 1)), 96);  // one row
  EXPECT_EQ(stride_of(packed.transpose(0, 1)), std::nullopt);
  EXPECT_EQ(stride_of(packed.transpose(1, 2)), std::nullopt);
  EXPECT_EQ(eq::detail::row_stride({4, 1, 3, 2}, {6, 99, 2, 1}, 3), 6);  // sizes of 1 do not count
}

TEST(Layout, OutputsAreContiguous) {
  for (const auto& x : views(at::kFloat)) {
    const auto dy = normal(x.sizes(), at::kFloat, 45);
    EXPECT_TRUE(layer_norm_with_gradients(x, dy).y.is_contiguous());
    EXPECT_TRUE(rms_norm_with_gradients(x, dy).dx.is_contiguous());
  }
}

TEST(Layout, StridesBeyond32BitsReachTheLastRow) {
  const std::int64_t stride = (std::int64_t{1} << 31) + 8;
  const std::int64_t cols = 8;
  const std::size_t bytes = (2 * stride + cols) * sizeof(float);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto x = at::from_blob(memory, {3, cols}, {stride, 1}, at::kFloat);
  x.copy_(normal({3, cols}, at::kFloat, 46));
  const auto dy = normal({3, cols}, at::kFloat, 47);
  expect_same(layer_norm_with_gradients(x, dy), layer_norm_with_gradients(x.contiguous(), dy));
  ::munmap(memory, bytes);
}

TEST(Layout, NoCallChangesItsInputs) {
  for (const auto type : all_types()) {
    const auto x = normal({9, 40}, type, 48);
    const auto dy = normal({9, 40}, type, 49);
    const auto x_before = x.clone();
    const auto dy_before = dy.clone();
    layer_norm_with_gradients(x, dy);
    rms_norm_with_gradients(x, dy);
    EXPECT_TRUE(same_bits(x, x_before));
    EXPECT_TRUE(same_bits(dy, dy_before));
  }
}

class Threads : public ::testing::Test {
 protected:
  void TearDown() override { at::set_num_threads(before_); }
  int before_ = at::get_num_threads();
};

TEST_F(Threads, TheirNumberDoesNotChangeABit) {
  for (const auto type : all_types()) {
    const auto x = normal({1000, 257}, type, 50);
    const auto dy = normal({1000, 257}, type, 51);
    at::set_num_threads(1);
    const auto norm = layer_norm_with_gradients(x, dy);
    const auto rms = rms_norm_with_gradients(x, dy);
    for (const int threads : {2, 3}) {
      at::set_num_threads(threads);
      expect_same(norm, layer_norm_with_gradients(x, dy));
      expect_same(rms, rms_norm_with_gradients(x, dy));
    }
  }
}

TEST_F(Threads, ABatchAroundARowDoesNotChangeItsBits) {
  const auto row = normal({1, 768}, at::kFloat, 52);
  const auto alone = eq::layer_norm(row, {768});
  const auto rms_alone = eq::rms_norm(row, {768});
  for (const int threads : {1, 2, 3}) {
    at::set_num_threads(threads);
    for (const std::int64_t rows : {2, 255, 256, 1000}) {
      auto batch = normal({rows, 768}, at::kFloat, 53);
      batch[rows - 1] = row[0];
      EXPECT_TRUE(same_bits(eq::layer_norm(batch, {768})[rows - 1], alone[0]));
      EXPECT_TRUE(same_bits(eq::rms_norm(batch, {768})[rows - 1], rms_alone[0]));
    }
  }
}

TEST_F(Threads, AllOfThemWork) {
  at::set_num_threads(2);
  eq::ParallelForExecutor executor;
  EXPECT_EQ(executor.concurrency(), 2);
  std::vector<int> worker(64, -1);
  const auto note = [](void* state, std::int64_t index) noexcept {
    static_cast<int*>(state)[index] = at::get_thread_num();
  };
  executor.run(64, note, worker.data());
  EXPECT_EQ(worker.front(), 0);
  EXPECT_EQ(worker.back(), 1);
}

TEST_F(Threads, InsideAParallelRegionTheCallStaysOnItsThread) {
  at::set_num_threads(2);
  const auto x = normal({8, 64, 256}, at::kFloat, 54);
  const auto want = eq::layer_norm(x, {256});
  auto got = at::empty_like(x);
  at::parallel_for(0, 8, 1, [&](std::int64_t begin, std::int64_t end) {
    const at::NoGradGuard no_grad;
    EXPECT_EQ(eq::ParallelForExecutor().concurrency(), 1);
    for (auto i = begin; i < end; ++i) got[i].copy_(eq::layer_norm(x[i], {256}));
  });
  EXPECT_TRUE(same_bits(got, want));
}

}  // namespace
}  // namespace equinorm::tests
