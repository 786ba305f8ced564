#include "lab/models/ada_ln.hpp"

#include <ATen/ops/gelu.h>

namespace equinorm::lab {

AdaLnBlock::AdaLnBlock(const std::string& prefix, int layer, const AdaLnZeroOptions& options,
                       ParameterStore& parameters)
    : modulation_(prefix + ".modulation", layer, {options.condition, options.width, 4}, parameters),
      attention_(prefix, layer, options.width, options.heads, parameters),
      fc1_({prefix + ".fc1", ParameterKind::fc1, layer}, {options.width, options.hidden},
           Linear::Start::xavier, parameters),
      fc2_({prefix + ".fc2", ParameterKind::fc2, layer}, {options.hidden, options.width},
           Linear::Start::xavier, parameters) {}

at::Tensor AdaLnBlock::forward(const at::Tensor& x, const at::Tensor& c,
                               const AttentionMask& mask) const {
  const auto m = modulation_.forward(c);
  const at::Tensor attended = x + attention_.forward(modulated_norm(x, m[0], m[1]), mask);
  const at::Tensor hidden = fc1_.forward(modulated_norm(attended, m[2], m[3]));
  return attended + fc2_.forward(at::gelu(hidden, "tanh"));
}

}  // namespace equinorm::lab
