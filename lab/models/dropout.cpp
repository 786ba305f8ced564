// Dropout with random numbers of the run's own: at::dropout draws from a process-wide generator,
// which other runs in the process would disturb, and takes some 15 % of a training step.
#include <ATen/ops/empty_like.h>

#include <cmath>

#include "lab/models/forward_context.hpp"

namespace equinorm::lab {
namespace {

// Each 64-bit number decides two elements, 32 bits each.
void fill_mask(float* mask, std::int64_t size, double keep, Random& random) {
  const auto threshold = static_cast<std::uint64_t>(std::ldexp(keep, 32));
  const auto kept = static_cast<float>(1 / keep);
  for (std::int64_t i = 0; i < size; i += 2) {
    const std::uint64_t bits = random.next();
    mask[i] = (bits & 0xFFFFFFFF) < threshold ? kept : 0;
    if (i + 1 < size) mask[i + 1] = (bits >> 32) < threshold ? kept : 0;
  }
}

}  // namespace

at::Tensor dropout(const at::Tensor& x, double p, const ForwardContext& context) {
  if (!context.training || !context.dropout || p == 0 || context.profile != nullptr) return x;
  const at::Tensor mask = at::empty_like(x, at::kFloat);
  fill_mask(mask.mutable_data_ptr<float>(), mask.numel(), 1 - p, *context.random);
  return x * mask;
}

}  // namespace equinorm::lab
