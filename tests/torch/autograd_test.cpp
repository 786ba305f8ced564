// Gradients: against finite differences, against PyTorch's in double, against the bounds in the
// narrow types; what is kept for the backward pass; what is refused.
#include <gtest/gtest.h>
#include <torch/csrc/autograd/forward_grad.h>
#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "equinorm/torch/functional.hpp"
#include "tensor_checks.hpp"

namespace equinorm::tests {
namespace {

namespace eq = ::equinorm::torch;
using ::torch::autograd::grad;
using Inputs = std::vector<at::Tensor>;
using Operator = std::function<at::Tensor(const Inputs&)>;

// docs/numerics.md, section 6
constexpr double kDxBound = 4;
constexpr double kDgammaBound = 8;
constexpr double kDbetaBound = 4;

/// Inputs are x, weight, bias, as many as the operator has.
struct Case {
  const char* name;
  Operator ours;
  Operator pytorch;
  int inputs;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"layer_norm", [](const Inputs& t) { return eq::layer_norm(t[0], t[1].sizes(), t[1], t[2]); },
       [](const Inputs& t) { return at::layer_norm(t[0], t[1].sizes(), t[1], t[2]); }, 3},
      {"layer_norm without affine",
       [](const Inputs& t) { return eq::layer_norm(t[0], t[0].sizes().slice(1)); },
       [](const Inputs& t) { return at::layer_norm(t[0], t[0].sizes().slice(1)); }, 1},
      {"layer_norm with weight",
       [](const Inputs& t) { return eq::layer_norm(t[0], t[1].sizes(), t[1]); },
       [](const Inputs& t) { return at::layer_norm(t[0], t[1].sizes(), t[1]); }, 2},
      {"rms_norm", [](const Inputs& t) { return eq::rms_norm(t[0], t[1].sizes(), t[1], 1e-5); },
       [](const Inputs& t) { return at::rms_norm(t[0], t[1].sizes(), t[1], 1e-5); }, 2},
      {"rms_norm without weight",
       [](const Inputs& t) { return eq::rms_norm(t[0], t[0].sizes().slice(1), {}, 1e-5); },
       [](const Inputs& t) { return at::rms_norm(t[0], t[0].sizes().slice(1), {}, 1e-5); }, 1},
      {"rms_norm with add_one",
       [](const Inputs& t) { return eq::rms_norm(t[0], t[1].sizes(), t[1], 1e-5, true); },
       [](const Inputs& t) { return at::rms_norm(t[0], t[1].sizes(), t[1] + 1, 1e-5); }, 2},
  };
  return all;
}

Inputs inputs_of(const Case& c, std::int64_t rows, std::int64_t cols, at::ScalarType type) {
  Inputs inputs = {normal({rows, cols}, type, 61, 0.5), normal({cols}, type, 62, 1, 0.5),
                   normal({cols}, type, 63)};
  inputs.resize(c.inputs);
  for (auto& input : inputs) input.requires_grad_();
  return inputs;
}

/// d sum(dy * f(inputs)) / d inputs[which], by central differences at two steps and Richardson's
/// extrapolation: the error is of order step^4 = 1e-12 for inputs of order one.
at::Tensor finite_differences(const Operator& f, Inputs inputs, std::size_t which,
                              const at::Tensor& dy) {
  const at::NoGradGuard no_grad;
  const double step = 0x1p-10;
  at::Tensor gradient = at::empty_like(inputs[which]);
  auto base = inputs[which].detach().clone();
  inputs[which] = base;
  for (std::int64_t i = 0; i < base.numel(); ++i) {
    auto* element = base.mutable_data_ptr<double>() + i;
    const double centre = *element;
    const auto slope = [&](double h) {
      *element = centre + h;
      const auto above = f(inputs);
      *element = centre - h;
      const auto below = f(inputs);
      *element = centre;
      return ((above - below) * dy).sum().item<double>() / (2 * h);
    };
    gradient.mutable_data_ptr<double>()[i] = (4 * slope(step) - slope(2 * step)) / 3;
  }
  return gradient;
}

double largest(const at::Tensor& t) { return t.abs().max().item<double>(); }

TEST(Autograd, GradientsEqualFiniteDifferences) {
  for (const auto& c : cases()) {
    const auto inputs = inputs_of(c, 3, 11, at::kDouble);
    const auto dy = normal({3, 11}, at::kDouble, 64);
    const auto got = grad({c.ours(inputs)}, inputs, {dy});
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_LE(largest(got[i] - finite_differences(c.ours, inputs, i, dy)), 1e-9)
          << c.name << " input " << i;
    }
  }
}

TEST(Autograd, GradientsEqualPyTorchsInDouble) {
  // Each sums up to n numbers of order one in double, and errs by up to n units.
  const std::int64_t rows = 70;
  const std::int64_t cols = 96;
  for (const auto& c : cases()) {
    const auto inputs = inputs_of(c, rows, cols, at::kDouble);
    const auto dy = normal({rows, cols}, at::kDouble, 65);
    const auto got = grad({c.ours(inputs)}, inputs, {dy});
    const auto want = grad({c.pytorch(inputs)}, inputs, {dy});
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const double scale = largest(want[i]) + largest(dy);
      EXPECT_LE(largest(got[i] - want[i]), 2 * cols * 0x1p-52 * scale) << c.name << " input " << i;
    }
  }
}

/// The scales of docs/numerics.md, section 6: dx by row; dgamma and dbeta by column.
struct Scales {
  at::Tensor dx, dgamma, dbeta;
};

Scales scales_of(const at::Tensor& x, const at::Tensor& dy, const at::Tensor& gain, bool centred) {
  const auto mean = centred ? x.mean(1, true) : at::zeros({x.size(0), 1}, at::kDouble);
  const auto rstd = ((x - mean).square().mean(1, true) + 1e-5).rsqrt();
  const auto xhat = ((x - mean) * rstd).abs();
  const auto g = (dy * gain).abs();
  const auto projected = g + xhat * (g * xhat).mean(1, true);
  const double one = centred ? 1 : 0;
  return {(rstd * (projected + one * g.mean(1, true)).amax(1, true)).squeeze(1),
          (dy.abs() * (xhat + one)).sum(0), dy.abs().sum(0)};
}

TEST(Autograd, NarrowTypesStayWithinTheBounds) {
  for (const auto type : {at::kFloat, at::kHalf, at::kBFloat16}) {
    for (const auto& c : cases()) {
      SCOPED_TRACE(::testing::Message() << c.name << " " << type);
      const auto inputs = inputs_of(c, 300, 64, type);
      const auto dy = normal({300, 64}, type, 66, 0.3);
      const auto got = grad({c.ours(inputs)}, inputs, {dy});
      Inputs wide;
      for (const auto& input : inputs) {
        wide.push_back(input.detach().to(at::kDouble).requires_grad_());
      }
      const auto dy_wide = dy.to(at::kDouble);
      const auto want = grad({c.pytorch(wide)}, wide, {dy_wide});
      const at::NoGradGuard no_grad;
      const std::string name = c.name;
      const double one = name == "rms_norm with add_one" ? 1 : 0;
      const auto gain = c.inputs > 1 ? wide[1] + one : at::ones({64}, at::kDouble);
      const auto scales = scales_of(wide[0], dy_wide, gain, name.rfind("layer_norm", 0) == 0);
      EXPECT_LE(scale_ulps(got[0], numbers(want[0]), numbers(scales.dx)), kDxBound);
      if (c.inputs > 1) {
        EXPECT_LE(scale_ulps(got[1], numbers(want[1]), numbers(scales.dgamma)), kDgammaBound);
      }
      if (c.inputs > 2) {
        EXPECT_LE(scale_ulps(got[2], numbers(want[2]), numbers(scales.dbeta)), kDbetaBound);
      }
    }
  }
}

TEST(Autograd, BiasGradientOfOnesCountsTheRowsInNarrowTypes) {
  const int before = at::get_num_threads();
  const std::vector<std::pair<at::ScalarType, std::int64_t>> counts = {
      {at::kBFloat16, 1000}, {at::kHalf, 5000}, {at::kBFloat16, 16384}};
  for (const auto& [type, rows] : counts) {
    for (const int threads : {1, 2, 4}) {
      at::set_num_threads(threads);
      const auto x = normal({rows, 16}, type, 67);
      const auto bias = at::zeros({16}, type).requires_grad_();
      const auto dbias =
          grad({eq::layer_norm(x, {16}, {}, bias)}, {bias}, {at::ones({rows, 16}, type)})[0];
      EXPECT_TRUE(same_bits(dbias, at::full({16}, rows, at::kDouble).to(type)))
          << type << rows << " threads " << threads;
    }
  }
  at::set_num_threads(before);
}

TEST(Autograd, ARealBfloat16BatchLosesOnlyTheLastRounding) {
  const auto x = normal({16384, 32}, at::kBFloat16, 68);
  const auto dy = normal({16384, 32}, at::kBFloat16, 69, 0.3);
  const auto weight = at::ones({32}, at::kBFloat16).requires_grad_();
  const auto bias = at::zeros({32}, at::kBFloat16).requires_grad_();
  const auto got = grad({eq::layer_norm(x, {32}, weight, bias)}, {weight, bias}, {dy});
  const auto wide_weight = at::ones({32}, at::kDouble).requires_grad_();
  const auto wide_bias = at::zeros({32}, at::kDouble).requires_grad_();
  const auto want = grad({at::layer_norm(x.to(at::kDouble), {32}, wide_weight, wide_bias)},
                         {wide_weight, wide_bias}, {dy.to(at::kDouble)});
  // Unit roundoff of bf16 is 2^-8; the sums before it are good to far less.
  for (int i = 0; i < 2; ++i) {
    const double error = (got[i].to(at::kDouble) - want[i]).norm().item<double>();
    EXPECT_LE(error, 0x1p-8 * want[i].norm().item<double>()) << i;
  }
}

TEST(Autograd, TheSavedMeanIsNotRoundedToTheNarrowType) {
  const auto x = at::tensor({100.0, 100.0, 100.0, 101.0}).to(at::kBFloat16).view({1, 4});
  const auto dy = at::ones({1, 4}, at::kBFloat16);
  const auto weight = at::ones({4}, at::kFloat).requires_grad_();
  const auto dweight = grad({eq::layer_norm(x, {4}, weight)}, {weight}, {dy})[0];
  const double rstd = 1 / std::sqrt(0.1875 + 1e-5);
  EXPECT_NEAR(dweight[0].item<double>(), -0.25 * rstd, 0x1p-23);
  EXPECT_NEAR(dweight[3].item<double>(), 0.75 * rstd, 0x1p-22);
}

TEST(Autograd, ARowOfOneColumnHasNoGradientButItsBias) {
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    const auto x = at::full({1, 1}, 1e6, type).requires_grad_();
    const auto weight = at::ones({1}, type).requires_grad_();
    const auto bias = at::full({1}, 3, type).requires_grad_();
    const auto y = eq::layer_norm(x, {1}, weight, bias);
    EXPECT_EQ(y.item<double>(), 3);
    const auto g = grad({y}, {x, weight, bias}, {at::ones({1, 1}, type)});
    EXPECT_EQ(g[0].item<double>(), 0);
    EXPECT_EQ(g[1].item<double>(), 0);
    EXPECT_EQ(g[2].item<double>(), 1);
  }
}

TEST(Autograd, EmptyInputsGiveEmptyOrZeroGradients) {
  for (const auto& sizes : std::vector<std::vector<std::int64_t>>{{0, 4}, {3, 0}, {0, 0}}) {
    for (const auto& c : cases()) {
      const auto inputs = inputs_of(c, sizes[0], sizes[1], at::kFloat);
      const auto got = grad({c.ours(inputs)}, inputs, {at::ones(sizes)});
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        EXPECT_TRUE(same_bits(got[i], at::zeros_like(inputs[i]))) << c.name << sizes << i;
      }
    }
  }
}

TEST(Autograd, EverySubsetOfGradientsHasTheSameBits) {
  for (const auto& c : cases()) {
    const auto inputs = inputs_of(c, 65, 40, at::kFloat);
    const auto dy = normal({65, 40}, at::kFloat, 70);
    const auto all = grad({c.ours(inputs)}, inputs, {dy});
    for (unsigned subset = 1; subset < 1u << inputs.size(); ++subset) {
      Inputs some;
      Inputs wanted;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        some.push_back(inputs[i].detach().requires_grad_((subset >> i & 1) != 0));
        if (some[i].requires_grad()) wanted.push_back(some[i]);
      }
      const auto got = grad({c.ours(some)}, wanted, {dy});
      std::size_t next = 0;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (some[i].requires_grad()) {
          EXPECT_TRUE(same_bits(got[next++], all[i])) << c.name << " " << subset;
        }
      }
    }
  }
}

TEST(Autograd, MixedTypesGiveEachGradientItsOwnType) {
  const auto x = normal({40, 24}, at::kBFloat16, 71).requires_grad_();
  const auto weight = normal({24}, at::kFloat, 72).requires_grad_();
  const auto bias = normal({24}, at::kHalf, 73).requires_grad_();
  const auto dy = normal({40, 24}, at::kBFloat16, 74);
  const auto got = grad({eq::layer_norm(x, {24}, weight, bias)}, {x, weight, bias}, {dy});
  const auto x_wide = x.detach().to(at::kFloat).requires_grad_();
  const auto bias_wide = bias.detach().to(at::kFloat).requires_grad_();
  const auto want = grad({eq::layer_norm(x_wide, {24}, weight, bias_wide)},
                         {x_wide, weight, bias_wide}, {dy.to(at::kFloat)});
  EXPECT_TRUE(same_bits(got[0], want[0].to(at::kBFloat16)));
  EXPECT_TRUE(same_bits(got[1], want[1]));
  // dbias is rounded once from double; by way of float it may round twice, by half a unit more.
  EXPECT_LE(largest(got[2].to(at::kFloat) - want[2]), 0.5 * ulp_at(largest(want[2]), at::kHalf));
}

TEST(Autograd, AnExpandedGradientWorks) {
  const auto x = normal({6, 20}, at::kFloat, 75).requires_grad_();
  eq::layer_norm(x, {20}).sum().backward();  // strides 0 and 0
  const auto want = grad({eq::layer_norm(x, {20})}, {x}, {at::ones({6, 20})})[0];
  EXPECT_TRUE(same_bits(x.grad(), want));
}

TEST(Autograd, WithoutGradModeThereIsNoGraph) {
  const auto x = normal({3, 8}, at::kFloat, 76).requires_grad_();
  const auto want = eq::layer_norm(x, {8}).detach();
  EXPECT_TRUE(eq::layer_norm(x, {8}).requires_grad());
  EXPECT_FALSE(eq::layer_norm(x.detach(), {8}).requires_grad());
  {
    const at::NoGradGuard no_grad;
    const auto y = eq::layer_norm(x, {8});
    EXPECT_FALSE(y.requires_grad());
    EXPECT_TRUE(same_bits(y, want));
  }
  const c10::InferenceMode inference;
  const auto y = eq::rms_norm(eq::layer_norm(x, {8}), {8});
  EXPECT_TRUE(y.is_inference());
}

template <class Function>
Inputs saved_by(const at::Tensor& y) {
  auto* node = dynamic_cast<::torch::autograd::CppNode<Function>*>(y.grad_fn().get());
  return node == nullptr ? Inputs() : Inputs(node->ctx_.get_saved_variables());
}

TEST(Autograd, TheBackwardPassKeepsTheInputAndAFewBytesPerRow) {
  const auto x = normal({50, 64}, at::kBFloat16, 77).requires_grad_();
  const auto weight = at::ones({64}, at::kBFloat16).requires_grad_();
  const auto rms = saved_by<eq::detail::RmsNormFunction>(eq::rms_norm(x, {64}, weight));
  ASSERT_EQ(rms.size(), 3u);
  EXPECT_TRUE(rms[0].is_alias_of(x));
  EXPECT_TRUE(rms[1].is_alias_of(weight));
  EXPECT_EQ(rms[2].nbytes(), 50u * 5);
  const auto norm =
      saved_by<eq::detail::LayerNormFunction>(eq::layer_norm(x.t().t(), {64}, weight, weight));
  ASSERT_EQ(norm.size(), 4u);
  EXPECT_TRUE(norm[0].is_alias_of(x));
  EXPECT_EQ(norm[3].nbytes(), 50u * 13);
}

template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

/// d sum(v * first derivatives) / d each of inputs and dy.
Inputs second_derivatives(const Operator& f, const Inputs& inputs, const at::Tensor& dy) {
  const auto first = grad({f(inputs)}, inputs, {dy}, /*retain_graph=*/true, /*create_graph=*/true);
  at::Tensor sum = at::zeros({}, at::kDouble);
  for (std::size_t i = 0; i < first.size(); ++i) {
    sum = sum + (first[i] * normal(first[i].sizes(), at::kDouble, 90 + i)).sum();
  }
  Inputs by = inputs;
  by.push_back(dy);
  return grad({sum}, by, {}, /*retain_graph=*/true, /*create_graph=*/false, /*allow_unused=*/true);
}

TEST(Autograd, SecondDerivativesAreThoseOfPyTorchAndFirstOnesKeepTheirBits) {
  for (const auto& c : cases()) {
    const auto inputs = inputs_of(c, 4, 8, at::kDouble);
    const auto dy = normal({4, 8}, at::kDouble, 78).requires_grad_();
    const auto plain = grad({c.ours(inputs)}, inputs, {dy});
    const auto first = grad({c.ours(inputs)}, inputs, {dy}, /*retain_graph=*/true,
                            /*create_graph=*/true);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_TRUE(same_bits(first[i], plain[i])) << c.name;
    }
    const auto ours = second_derivatives(c.ours, inputs, dy);
    const auto theirs = second_derivatives(c.pytorch, inputs, dy);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      ASSERT_EQ(ours[i].defined(), theirs[i].defined()) << c.name << ' ' << i;
      if (!ours[i].defined()) continue;
      const double scale = theirs[i].abs().max().item<double>();
      const double difference = (ours[i] - theirs[i]).abs().max().item<double>();
      EXPECT_LE(difference, 1e-12 * (1 + scale)) << c.name << " source " << i;
    }
  }
}

TEST(Autograd, ForwardModeIsAnError) {
  const auto level = ::torch::autograd::ForwardADLevel::get_next_idx();
  const auto x = normal({4, 8}, at::kFloat, 79);
  const auto dual = at::_make_dual(x, at::ones_like(x), static_cast<std::int64_t>(level));
  const at::NoGradGuard no_grad;
  EXPECT_NE(error_of([&] { eq::layer_norm(dual, {8}); }).find("jvp is not implemented"),
            std::string::npos);
  ::torch::autograd::ForwardADLevel::release_idx(level);
}

TEST(Autograd, AnInputChangedInPlaceIsAnError) {
  const auto leaf = normal({4, 8}, at::kFloat, 80).requires_grad_();
  const auto x = leaf * 1;
  const auto y = eq::rms_norm(x, {8});
  x.mul_(2);
  EXPECT_NE(error_of([&] { y.sum().backward(); }).find("modified by an inplace operation"),
            std::string::npos);
}

TEST(Autograd, AnUndefinedGradientGivesUndefinedGradients) {
  for (const auto& c : cases()) {
    const auto y = c.ours(inputs_of(c, 4, 8, at::kFloat));
    for (const auto& g : (*y.grad_fn())({at::Tensor()})) EXPECT_FALSE(g.defined()) << c.name;
  }
}

TEST(Autograd, ExactAccuracyHoldsForTheBackwardPassToo) {
  const auto x = normal({4, 64}, at::kFloat, 81, 1e3).requires_grad_();
  const auto dy = normal({4, 64}, at::kFloat, 82);
  eq::context().set_accuracy(Accuracy::exact);
  const auto y = eq::layer_norm(x, {64});
  const auto want = grad({y}, {x}, {dy}, /*retain_graph=*/true)[0];
  eq::context().set_accuracy(Accuracy::standard);
  EXPECT_TRUE(same_bits(grad({y}, {x}, {dy})[0], want));
}

}  // namespace
}  // namespace equinorm::tests
