// Every named form of row norm: against PyTorch's autograd of the formula in double, against finite
// differences where nothing is detached, and what is refused.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <string>
#include <vector>

#include "equinorm/row_forms.hpp"
#include "equinorm/torch/functional.hpp"
#include "tensor_checks.hpp"

namespace equinorm::tests {
namespace {

namespace eq = ::equinorm::torch;
using ::torch::autograd::grad;

/// The formula of a form as its source states it, written out apart from the library's composite.
at::Tensor formula(const std::string& name, const at::Tensor& x, const at::Tensor& gamma,
                   const at::Tensor& beta) {
  const auto mean = x.mean(-1, true);
  const auto centred = x - mean;
  const auto variance = x.var(-1, /*unbiased=*/false, /*keepdim=*/true);
  const auto s = x.std(-1, /*unbiased=*/true, /*keepdim=*/true);
  const auto r = x.square().mean(-1, true).sqrt();
  const auto plain = centred / (variance + 1e-5).sqrt();
  if (name == "LayerNorm") return plain * gamma + beta;
  if (name == "LayerNormSimple") return plain;
  if (name == "DetachNorm") return (x - mean.detach()) / (variance.detach() + 1e-5).sqrt();
  if (name == "DetachMean") return (x - mean.detach()) / (variance + 1e-5).sqrt();
  if (name == "DetachVar") return centred / (variance.detach() + 1e-5).sqrt();
  if (name == "RMSNorm") return x / (r.square() + 1e-5).sqrt() * gamma;
  if (name == "RMSNormOnePlus") return x / (r.square() + 1e-6).sqrt() * (1 + gamma);
  if (name == "RmsNormPaper") return x / r * gamma;
  if (name == "RmsNormOfficial") return x / (r + 1e-8) * gamma + beta;
  if (name == "RmsNormPartial") {
    const auto part = (x.size(-1) + 15) / 16;
    const auto of_part = x.narrow(-1, 0, part).square().mean(-1, true).sqrt();
    return x / (of_part + 1e-8) * gamma + beta;
  }
  if (name == "RmsNormClamp") return x / r.clamp_min(1e-8) * gamma;
  if (name == "RmsNormPlain") return x / (r.square() + 1e-5).sqrt();
  if (name == "AdaNorm") return plain * (1 - 0.1 * plain).detach();
  if (name == "AdaNormOfficial") {
    const auto y = centred / (s + 1e-5);
    return y * (1 - 0.1 * y).detach();
  }
  if (name == "ScaledStandardize") return gamma * centred / (s + 1e-6);
  if (name == "ScaleNorm") return gamma * x / x.norm(2, {-1}, true);
  ADD_FAILURE() << "no formula for " << name;
  return x;
}

struct Arguments {
  at::Tensor x, gamma, beta;

  Arguments(const NamedForm& form, std::int64_t cols) {
    x = normal({5, cols}, at::kDouble, 11, 0.4).requires_grad_();
    if (has_gamma(form.form))
      gamma = normal({gamma_size(form.form, cols)}, at::kDouble, 12, 1, 0.5).requires_grad_();
    if (form.bias) beta = normal({cols}, at::kDouble, 13).requires_grad_();
  }

  [[nodiscard]] std::vector<at::Tensor> given() const {
    std::vector<at::Tensor> all = {x};
    if (gamma.defined()) all.push_back(gamma);
    if (beta.defined()) all.push_back(beta);
    return all;
  }
};

class NamedForms : public ::testing::TestWithParam<NamedForm> {};

TEST_P(NamedForms, AreTheFormulaOfTheirSourceForwardAndBackward) {
  const NamedForm& form = GetParam();
  for (const std::int64_t cols : {2, 7, 33, 300}) {
    const Arguments a(form, cols);
    const auto y = eq::row_norm(a.x, form.form, a.gamma, a.beta);
    const auto want = formula(form.name, a.x, a.gamma, a.beta);
    EXPECT_TRUE(at::allclose(y, want, 1e-12, 1e-12)) << cols;
    const auto dy = normal(y.sizes(), at::kDouble, 14);
    const auto ours = grad({y}, a.given(), {dy});
    const auto theirs = grad({want}, a.given(), {dy});
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const double scale = theirs[i].abs().max().item<double>();
      const double difference = (ours[i] - theirs[i]).abs().max().item<double>();
      EXPECT_LE(difference, 1e-12 * (1 + scale)) << "input " << i << ", " << cols << " columns";
    }
  }
}

TEST_P(NamedForms, HaveSecondDerivatives) {
  const NamedForm& form = GetParam();
  const Arguments a(form, 6);
  const auto dy = normal(a.x.sizes(), at::kDouble, 15).requires_grad_();
  const auto direction = normal(a.x.sizes(), at::kDouble, 16);
  const auto second = [&](const at::Tensor& y) {
    const auto dx = grad({y}, {a.x}, {dy}, /*retain_graph=*/true, /*create_graph=*/true)[0];
    return grad({(dx * direction).sum()}, {a.x, dy}, {}, false, false, /*allow_unused=*/true);
  };
  const auto ours = second(eq::row_norm(a.x, form.form, a.gamma, a.beta));
  const auto theirs = second(formula(form.name, a.x, a.gamma, a.beta));
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ASSERT_EQ(ours[i].defined(), theirs[i].defined()) << i;
    if (!ours[i].defined()) continue;
    EXPECT_TRUE(at::allclose(ours[i], theirs[i], 1e-11, 1e-11)) << i;
  }
}

TEST_P(NamedForms, RunOnStridedTensorsOfEveryType) {
  const NamedForm& form = GetParam();
  for (const at::ScalarType type : all_types()) {
    const auto packed = normal({3, 4, 40}, type, 17);
    const auto x = packed.narrow(-1, 5, 20);
    const Arguments a(form, 20);
    const auto gamma = a.gamma.defined() ? a.gamma.detach().to(type) : at::Tensor();
    EXPECT_TRUE(same_bits(eq::row_norm(x, form.form, gamma),
                          eq::row_norm(x.contiguous(), form.form, gamma)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, NamedForms, ::testing::ValuesIn(kRowForms),
                         [](const auto& form) { return std::string(form.param.name); });

TEST(RowNorm, RefusesParametersThatTheFormHasNot) {
  const auto x = at::ones({2, 4});
  EXPECT_THROW(eq::row_norm(x, {.gain = Gain::none}, at::ones({4})), c10::Error);
  EXPECT_THROW(eq::row_norm(x, {.gain = Gain::scalar}, at::ones({4})), c10::Error);
  EXPECT_THROW(eq::row_norm(x, {.gain = Gain::adaptive}, {}, at::ones({4})), c10::Error);
  EXPECT_THROW(eq::row_norm(x, {.centered = false, .unbiased = true}), c10::Error);
  EXPECT_THROW(eq::row_norm(x, {.part = 0.5}), c10::Error);
  EXPECT_THROW(eq::row_norm(at::ones({}), {}), c10::Error);
}

}  // namespace
}  // namespace equinorm::tests
