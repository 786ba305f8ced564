// residual_norm, quantized_norm, DyT and blended norms of tensors: against LibTorch's elementary
// operators in double with the mask that the forward pass drew, forward and gradients; types;
// errors.
//
// Bits and bounds are in tests/conformance.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <vector>

#include "equinorm/torch/alpha_norms.hpp"
#include "equinorm/torch/functional.hpp"
#include "equinorm/torch/residual_norm.hpp"
#include "tensor_checks.hpp"

namespace equinorm::tests {
namespace {

namespace eq = ::equinorm::torch;
using ::torch::autograd::grad;

void expect_close(const std::vector<at::Tensor>& ours, const std::vector<at::Tensor>& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double scale = 1 + theirs[i].abs().max().item<double>();
    EXPECT_LE((ours[i] - theirs[i]).abs().max().item<double>(), 1e-12 * scale) << i;
  }
}

/// What dropout makes of ones: the mask with its scale.
at::Tensor mask_of(at::IntArrayRef shape, const eq::ResidualNormOptions& options) {
  return eq::residual_norm({.x = at::ones(shape, at::kDouble)}, options).second;
}

at::Tensor normalized(const at::Tensor& h, double eps) {
  const auto mean = h.mean(-1, true);
  return (h - mean) / (h.var(-1, false, true) + eps).sqrt();
}

TEST(ResidualNorm, IsDropoutResidualAndNormWithTheirGradients) {
  eq::ResidualNormOptions options;
  options.p = 0.3;
  options.seed = 11;
  options.offset = 5;
  const auto leaf = [](at::IntArrayRef shape, std::uint64_t seed) {
    return normal(shape, at::kDouble, seed, 0.2).requires_grad_();
  };
  const auto x = leaf({3, 5, 33}, 1), residual = leaf({3, 5, 33}, 2), gamma = leaf({33}, 3),
             beta = leaf({33}, 4);
  const auto [y, h] =
      eq::residual_norm({.x = x, .residual = residual, .gamma = gamma, .beta = beta}, options);
  const auto want_h = residual + x * mask_of(x.sizes(), options);
  const auto want_y = normalized(want_h, 1e-5) * gamma + beta;
  expect_close({y.detach(), h.detach()}, {want_y.detach(), want_h.detach()});
  const auto dy = normal(x.sizes(), at::kDouble, 5), dh = normal(x.sizes(), at::kDouble, 6);
  const std::vector<at::Tensor> inputs = {x, residual, gamma, beta};
  expect_close(grad({y, h}, inputs, {dy, dh}, true),
               grad({want_y, want_h}, inputs, {dy, dh}, true));
  // Only one of the two outputs in the loss.
  expect_close(grad({y}, inputs, {dy}, true), grad({want_y}, inputs, {dy}, true));
  expect_close(grad({h}, {x, residual}, {dh}), grad({want_h}, {x, residual}, {dh}));
}

TEST(ResidualNorm, GatesAndModulatesBySampleAndByToken) {
  const auto leaf = [](at::IntArrayRef shape, std::uint64_t seed) {
    return normal(shape, at::kDouble, seed, 0.2).requires_grad_();
  };
  for (const bool by_token : {false, true}) {
    const std::vector<std::int64_t> of_groups =
        by_token ? std::vector<std::int64_t>{4, 6, 20} : std::vector<std::int64_t>{4, 20};
    const auto x = leaf({4, 6, 20}, 1), residual = leaf({4, 6, 20}, 2);
    const auto gate = leaf(of_groups, 3), shift = leaf(of_groups, 4), scale = leaf(of_groups, 5);
    eq::ResidualNormOptions options;
    options.form.eps = 1e-6;
    options.p = 0.2;
    const auto [y, h] = eq::residual_norm(
        {.x = x, .residual = residual, .gate = gate, .shift = shift, .scale = scale}, options);
    const auto rows = [&](const at::Tensor& t) { return by_token ? t : t.unsqueeze(1); };
    const auto want_h = residual + rows(gate) * (x * mask_of(x.sizes(), options));
    const auto want_y = normalized(want_h, 1e-6) * (1 + rows(scale)) + rows(shift);
    expect_close({y.detach(), h.detach()}, {want_y.detach(), want_h.detach()});
    const auto dy = normal(x.sizes(), at::kDouble, 6), dh = normal(x.sizes(), at::kDouble, 7);
    const std::vector<at::Tensor> inputs = {x, residual, gate, shift, scale};
    expect_close(grad({y, h}, inputs, {dy, dh}), grad({want_y, want_h}, inputs, {dy, dh}));
  }
}

TEST(ResidualNorm, KeepsTheStreamInATypeOfItsOwn) {
  eq::ResidualNormOptions options;
  options.stream_type = at::kFloat;
  const auto x = normal({4, 40}, at::kBFloat16, 1).requires_grad_();
  const auto residual = normal({4, 40}, at::kFloat, 2).requires_grad_();
  const auto [y, h] = eq::residual_norm({.x = x, .residual = residual}, options);
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  EXPECT_TRUE(same_bits(h, x.to(at::kFloat) + residual));
  const auto d = grad({y.sum() + h.sum()}, {x, residual});
  EXPECT_EQ(d[0].scalar_type(), at::kBFloat16);
  EXPECT_EQ(d[1].scalar_type(), at::kFloat);
  EXPECT_TRUE(same_bits(d[0], d[1].to(at::kBFloat16)));
}

TEST(ResidualNorm, RefusesWhatItHasNot) {
  const auto x = at::ones({4, 8}), gamma = at::ones({8}), gate = at::ones({4, 8});
  EXPECT_THROW(eq::residual_norm({.x = x, .gamma = gamma, .gate = gate}), c10::Error);
  EXPECT_THROW(eq::residual_norm({.x = x, .residual = at::ones({8})}), c10::Error);
  EXPECT_THROW(eq::residual_norm({.x = x}, {.p = 1.5}), c10::Error);
  EXPECT_THROW(eq::residual_norm({.x = x, .gate = at::ones({3, 8})}), c10::Error);
  const auto leaf = normal({2, 8}, at::kDouble, 1).requires_grad_();
  const auto y = eq::residual_norm({.x = leaf}).first;
  EXPECT_THROW(grad({y.square().sum()}, {leaf}, {}, true, /*create_graph=*/true), c10::Error);
}

TEST(QuantizedNorm, GivesNumbersAndTheScaleOfEachRow) {
  const auto x = normal({3, 5, 200}, at::kFloat, 1, 3);
  const auto gamma = normal({200}, at::kFloat, 2, 1, 0.2);
  const auto y = eq::residual_norm({.x = x, .gamma = gamma}).first;
  for (const auto kind : {Quantization::int8_per_row, Quantization::fp8_e4m3_per_row}) {
    const auto [q, scale] = eq::quantized_norm(x, kind, {}, gamma);
    EXPECT_EQ(scale.sizes(), at::IntArrayRef({3, 5}));
    const auto back = q.to(at::kFloat) * scale.unsqueeze(-1);
    const auto step = kind == Quantization::int8_per_row
                          ? 0.5001 * scale.unsqueeze(-1).expand_as(y)
                          : y.abs() / 16 + 0.001 * scale.unsqueeze(-1);
    EXPECT_TRUE(((back - y).abs() <= step).all().item<bool>());
  }
  const auto [q, scale] = eq::quantized_norm(x, Quantization::int8_fixed, {}, gamma, {}, 0.05);
  EXPECT_TRUE(q.equal((y / 0.05f).round().clamp(-128, 127).to(at::kChar)));
  EXPECT_THROW(eq::quantized_norm(x.clone().requires_grad_(), Quantization::int8_per_row),
               c10::Error);
  EXPECT_THROW(eq::quantized_norm(x, Quantization::int8_fixed), c10::Error);
}

/// First and second derivatives of ours against theirs.
template <class Ours, class Theirs>
void expect_derivatives(const std::vector<at::Tensor>& inputs, Ours ours, Theirs theirs) {
  const auto dy = normal(inputs[0].sizes(), at::kDouble, 30).requires_grad_();
  const auto derivatives = [&](const at::Tensor& y) {
    std::vector<at::Tensor> all = {y};
    const auto first = grad({y}, inputs, {dy}, true, /*create_graph=*/true);
    at::Tensor sum = at::zeros({}, at::kDouble);
    for (const auto& d : first) {
      all.push_back(d);
      sum = sum + (d * normal(d.sizes(), at::kDouble, 31)).sum();
    }
    std::vector<at::Tensor> by = {dy, inputs[0], inputs[1], inputs[2]};
    for (const auto& d : grad({sum}, by)) all.push_back(d);
    for (auto& t : all) t = t.detach();
    return all;
  };
  expect_close(derivatives(ours()), derivatives(theirs()));
}

TEST(DynamicTanh, IsItsFormulaWithFirstAndSecondDerivatives) {
  const auto x = normal({4, 3, 21}, at::kDouble, 1, 0, 3).requires_grad_();
  const auto alpha = at::full({1}, 0.5, at::kDouble).requires_grad_();
  const auto gamma = normal({21}, at::kDouble, 2, 1).requires_grad_();
  const auto beta = normal({21}, at::kDouble, 3).requires_grad_();
  expect_derivatives(
      {x, alpha, gamma, beta}, [&] { return eq::dynamic_tanh(x, alpha, gamma, beta); },
      [&] { return gamma * at::tanh(alpha * x) + beta; });
  for (const at::ScalarType type : all_types()) {
    const auto narrow = x.detach().to(type);
    const auto y = eq::dynamic_tanh(narrow, at::full({}, 0.5));
    const auto want = at::tanh(narrow.to(at::kDouble) * 0.5);
    EXPECT_LE((y.to(at::kDouble) - want).abs().max().item<double>(), ulp_at(1, type)) << type;
  }
  EXPECT_THROW(eq::dynamic_tanh(x, {}), c10::Error);
  EXPECT_THROW(eq::dynamic_tanh(x, gamma), c10::Error);
}

TEST(BlendedNorm, IsItsFormulaWithFirstAndSecondDerivatives) {
  const auto x = normal({4, 3, 21}, at::kDouble, 1, 0.5, 2).requires_grad_();
  const auto alpha = at::full({}, 0.8, at::kDouble).requires_grad_();
  const auto gamma = normal({21}, at::kDouble, 2, 1).requires_grad_();
  const auto beta = normal({21}, at::kDouble, 3).requires_grad_();
  expect_derivatives(
      {x, alpha, gamma, beta}, [&] { return eq::blended_norm(x, alpha, gamma, beta); },
      [&] { return alpha * (normalized(x, 1e-5) * gamma + beta) + (1 - alpha) * x; });
  const auto one = at::ones({}, at::kFloat);
  const auto narrow = x.detach().to(at::kFloat);
  EXPECT_TRUE(same_bits(eq::blended_norm(narrow, one), eq::row_norm(narrow, {})));
  EXPECT_THROW(eq::blended_norm(x, alpha, {}, {}, {.gain = Gain::scalar}), c10::Error);
}

}  // namespace
}  // namespace equinorm::tests
