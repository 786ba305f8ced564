#include "parameters.h"

#include "kernels/kernel_table.h"
#include "parallel/fp_environment.h"

namespace equinorm {
namespace {

const void* widened(const ConstVector& v, DType c, const kernels::ParameterTable& table,
                    void* to) noexcept {
  if (v.data == nullptr || v.dtype == c) return v.data;
  const auto& widen = c == DType::f64 ? table.to_f64 : table.to_f32;
  widen[static_cast<int>(v.dtype)](v.data, v.size, to);
  return to;
}

template <class C>
void add_one(const void* gamma, std::int64_t cols, double* to) noexcept {
  const C* from = static_cast<const C*>(gamma);
  C* gain = reinterpret_cast<C*>(to);
  for (std::int64_t i = 0; i < cols; ++i) gain[i] = 1 + from[i];
}

}  // namespace

kernels::Affine prepare_affine(const NormCall& call, DType c, kernels::Target target, double* rows,
                               std::int64_t row_elements) noexcept {
  const parallel::FpEnvironment environment;
  const kernels::ParameterTable& table = *kernels::parameter_table(target);
  kernels::Affine affine;
  affine.add_one = call.add_one;
  affine.gamma = widened(call.gamma, c, table, rows);
  affine.gain = affine.gamma;
  affine.beta = widened(call.beta, c, table, rows + row_elements);
  if (call.add_one && affine.gamma != nullptr) {
    double* gain = rows + 2 * row_elements;
    c == DType::f64 ? add_one<double>(affine.gamma, call.x.cols, gain)
                    : add_one<float>(affine.gamma, call.x.cols, gain);
    affine.gain = gain;
  }
  return affine;
}

}  // namespace equinorm
