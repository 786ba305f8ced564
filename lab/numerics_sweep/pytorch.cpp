// PyTorch's part of the sweep, alone in its file because its headers cost the compiler most.
#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>

#include "lab/numerics_sweep/algorithms.hpp"

namespace equinorm::lab::numerics {

void pytorch(std::span<const float> x, double eps, Operation operation, std::span<float> y) {
  const c10::InferenceMode no_gradients;
  const auto n = static_cast<std::int64_t>(x.size());
  const at::Tensor in = at::empty({1, n}, at::kFloat);
  std::copy(x.begin(), x.end(), in.mutable_data_ptr<float>());
  const at::Tensor out = operation == Operation::layer_norm ? at::layer_norm(in, {n}, {}, {}, eps)
                                                            : at::rms_norm(in, {n}, {}, eps);
  const at::Tensor rows = out.contiguous();
  std::copy_n(rows.const_data_ptr<float>(), x.size(), y.begin());
}

}  // namespace equinorm::lab::numerics
