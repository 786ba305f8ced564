// Values that can be checked by hand. Bits and bounds over all kernels are tested in
// tests/conformance.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "equinorm/equinorm.hpp"

namespace equinorm {
namespace {

TEST(LayerNorm, NormalizesThreeKnownNumbers) {
  const std::vector<float> x = {1000, 1001, 999};
  std::vector<float> y(3);
  Context context;
  LayerNormForward args;
  args.x = {x.data(), DType::f32, 1, 3, 3};
  args.y = {y.data(), DType::f32, 1, 3, 3};
  check(layer_norm_forward(args, context));
  // 1 / sqrt(2 / 3 + 1e-5), exact to all digits of f32.
  const float expected = static_cast<float>(1 / std::sqrt(2.0 / 3 + 1e-5));
  EXPECT_EQ(y[0], 0.0f);
  EXPECT_FLOAT_EQ(y[1], expected);
  EXPECT_FLOAT_EQ(y[2], -expected);
}

TEST(RmsNorm, DoesNotCentre) {
  const std::vector<float> x = {3, 4};
  std::vector<float> y(2);
  Context context;
  RmsNormForward args;
  args.x = {x.data(), DType::f32, 1, 2, 2};
  args.y = {y.data(), DType::f32, 1, 2, 2};
  args.eps = 0;
  check(rms_norm_forward(args, context));
  EXPECT_FLOAT_EQ(y[0], static_cast<float>(3 / std::sqrt(12.5)));
  EXPECT_FLOAT_EQ(y[1], static_cast<float>(4 / std::sqrt(12.5)));
}

}  // namespace
}  // namespace equinorm
