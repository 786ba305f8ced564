// Dropout with the run's own generator: at::dropout draws from the process-wide one, which other
// runs in the process would disturb.
#include <ATen/ops/empty_like.h>

#include "lab/models/forward_context.hpp"

namespace equinorm::lab {

at::Tensor dropout(const at::Tensor& x, double p, const ForwardContext& context) {
  if (!context.training || p == 0) return x;
  const double keep = 1 - p;
  return x * at::empty_like(x).bernoulli_(keep, context.generator).mul_(1 / keep);
}

}  // namespace equinorm::lab
