// Empty shapes are valid and have defined results.
#include <gtest/gtest.h>

#include "support.hpp"

namespace equinorm::test {
namespace {

TEST(Empty, RowsGiveZeroGradientsOfTheParameters) {
  Context context;
  Problem p(0, 10);
  check(layer_norm_forward(p.layer_forward(), context));
  check(layer_norm_backward(p.layer_backward(), context));
  EXPECT_EQ(p.dgamma, std::vector<float>(10, 0));
  EXPECT_EQ(p.dbeta, std::vector<float>(10, 0));
  Problem q(0, 10);
  check(rms_norm_forward(q.rms_forward(), context));
  check(rms_norm_backward(q.rms_backward(), context));
  EXPECT_EQ(q.dgamma, std::vector<float>(10, 0));
}

TEST(Empty, ColumnsGiveZeroStatistics) {
  for (const Accuracy accuracy : {Accuracy::standard, Accuracy::exact}) {
    Context context;
    context.set_accuracy(accuracy);
    Problem p(4, 0);
    check(layer_norm_forward(p.layer_forward(), context));
    check(layer_norm_backward(p.layer_backward(), context));
    EXPECT_EQ(p.mean, std::vector<float>(4, 0));
    EXPECT_EQ(p.mean_tail, std::vector<float>(4, 0));
    EXPECT_EQ(p.rstd, std::vector<float>(4, 0));
    EXPECT_EQ(p.exact, std::vector<std::uint8_t>(4, 0));
    Problem q(4, 0);
    RmsNormForward forward = q.rms_forward();
    forward.add_one = true;
    check(rms_norm_forward(forward, context));
    check(rms_norm_backward(q.rms_backward(), context));
    EXPECT_EQ(q.rstd, std::vector<float>(4, 0));
  }
}

TEST(Empty, ColumnsGiveAScalarGainGradientZero) {
  Context context;  // without memory of an earlier call
  float dgamma = 7;
  check(row_norm_backward(
      {.form = {.centered = false, .spread = Spread::length, .gain = Gain::scalar, .eps = 0},
       .dy = {nullptr, DType::f32, 3, 0, 0},
       .x = {nullptr, DType::f32, 3, 0, 0},
       .gamma = {},
       .dx = {},
       .dgamma = {&dgamma, DType::f32, 1},
       .dbeta = {}},
      context));
  EXPECT_EQ(dgamma, 0);
}

TEST(Empty, InBothWaysNeedsNoDataAtAll) {
  Context context;
  EXPECT_TRUE(layer_norm_forward({}, context).ok());
  EXPECT_TRUE(layer_norm_backward({}, context).ok());
  EXPECT_TRUE(rms_norm_forward({}, context).ok());
  EXPECT_TRUE(rms_norm_backward({}, context).ok());
}

}  // namespace
}  // namespace equinorm::test
