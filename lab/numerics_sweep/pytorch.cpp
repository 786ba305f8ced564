// PyTorch's part of the sweep, alone in its file because its headers cost the compiler most.
#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>

#include "lab/numerics_sweep/algorithms.hpp"

namespace equinorm::lab::numerics {

void pytorch(const Row& row, std::span<float> y) {
  const c10::InferenceMode no_gradients;
  const auto n = static_cast<std::int64_t>(row.x.size());
  const at::ScalarType type = row.dtype == DType::f16    ? at::kHalf
                              : row.dtype == DType::bf16 ? at::kBFloat16
                                                         : at::kFloat;
  const at::Tensor numbers = at::empty({1, n}, at::kFloat);
  std::copy(row.x.begin(), row.x.end(), numbers.mutable_data_ptr<float>());
  const at::Tensor in = numbers.to(type);
  const at::Tensor out = row.operation == Operation::layer_norm
                             ? at::layer_norm(in, {n}, {}, {}, row.eps)
                             : at::rms_norm(in, {n}, {}, row.eps);
  const at::Tensor result = out.to(at::kFloat).contiguous();
  std::copy_n(result.const_data_ptr<float>(), row.x.size(), y.begin());
}

}  // namespace equinorm::lab::numerics
