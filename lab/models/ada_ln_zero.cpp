// The adaLN-Zero block and final layer, on fused operators.
//
// The one trap: the gate of the first sublayer, its sum and the norm of the second are one call.
#include "lab/models/ada_ln_zero.hpp"

#include <ATen/ops/gelu.h>
#include <ATen/ops/silu.h>

#include "equinorm/torch/attention.hpp"
#include "equinorm/torch/residual_norm.hpp"

namespace equinorm::lab {
namespace {

constexpr RowForm kForm{.gain = Gain::none, .eps = 1e-6};

}  // namespace

Modulation::Modulation(const std::string& prefix, int layer, const Shape& shape,
                       ParameterStore& parameters)
    : chunks_(shape.chunks),
      linear_({prefix, ParameterKind::gamma, layer}, {shape.condition, shape.chunks * shape.width},
              Linear::Start::zero, parameters) {}

std::vector<at::Tensor> Modulation::forward(const at::Tensor& c) const {
  return linear_.forward(at::silu(c)).chunk(chunks_, -1);
}

at::Tensor modulated_norm(const at::Tensor& x, const at::Tensor& shift, const at::Tensor& scale) {
  return equinorm::torch::modulated_norm(x, shift, scale, kForm);
}

AdaLnZeroBlock::AdaLnZeroBlock(const std::string& prefix, int layer,
                               const AdaLnZeroOptions& options, ParameterStore& parameters)
    : modulation_(prefix + ".modulation", layer, {options.condition, options.width, 6}, parameters),
      attention_(prefix, layer, options.width, options.heads, parameters),
      fc1_({prefix + ".fc1", ParameterKind::fc1, layer}, {options.width, options.hidden},
           Linear::Start::xavier, parameters),
      fc2_({prefix + ".fc2", ParameterKind::fc2, layer}, {options.hidden, options.width},
           Linear::Start::xavier, parameters) {}

at::Tensor AdaLnZeroBlock::forward(const at::Tensor& x, const at::Tensor& c,
                                   const AttentionMask& mask) const {
  const auto m = modulation_.forward(c);
  const at::Tensor attention = attention_.forward(modulated_norm(x, m[0], m[1]), mask);
  const auto [normalized, attended] = equinorm::torch::residual_norm(
      {.x = attention, .residual = x, .gate = m[2], .shift = m[3], .scale = m[4]}, {.form = kForm});
  const at::Tensor mlp = fc2_.forward(at::gelu(fc1_.forward(normalized), "tanh"));
  return attended + (c.dim() == 2 ? m[5].unsqueeze(1) : m[5]) * mlp;
}

AdaLnZeroFinalLayer::AdaLnZeroFinalLayer(const std::string& prefix, const Shape& shape,
                                         ParameterStore& parameters)
    : modulation_(prefix + ".modulation", -1, {shape.condition, shape.width, 2}, parameters),
      linear_({prefix + ".linear", ParameterKind::head}, {shape.width, shape.outputs},
              Linear::Start::zero, parameters) {}

at::Tensor AdaLnZeroFinalLayer::forward(const at::Tensor& x, const at::Tensor& c) const {
  const auto m = modulation_.forward(c);
  return linear_.forward(modulated_norm(x, m[0], m[1]));
}

}  // namespace equinorm::lab
