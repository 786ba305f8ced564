// The adaLN-Zero block and final layer.
#include "lab/models/ada_ln_zero.hpp"

#include <ATen/ops/gelu.h>
#include <ATen/ops/silu.h>

#include "equinorm/torch/functional.hpp"

namespace equinorm::lab {
namespace {

constexpr double kEps = 1e-6;

}  // namespace

Modulation::Modulation(const std::string& prefix, int layer, const Shape& shape,
                       ParameterStore& parameters)
    : chunks_(shape.chunks),
      linear_({prefix, ParameterKind::gamma, layer}, {shape.condition, shape.chunks * shape.width},
              Linear::Start::zero, parameters) {}

std::vector<at::Tensor> Modulation::forward(const at::Tensor& c) const {
  const at::Tensor all = linear_.forward(at::silu(c));
  return (c.dim() == 2 ? all.unsqueeze(1) : all).chunk(chunks_, -1);
}

at::Tensor modulated_norm(const at::Tensor& x, const at::Tensor& shift, const at::Tensor& scale) {
  return equinorm::torch::layer_norm(x, {x.size(-1)}, {}, {}, kEps) * (1 + scale) + shift;
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
  const at::Tensor attended = x + m[2] * attention_.forward(modulated_norm(x, m[0], m[1]), mask);
  const at::Tensor inner = at::gelu(fc1_.forward(modulated_norm(attended, m[3], m[4])), "tanh");
  return attended + m[5] * fc2_.forward(inner);
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
