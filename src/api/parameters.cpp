#include "parameters.h"

#include <algorithm>

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

template <class C>
void repeat(const void* gamma, std::int64_t cols, double* to) noexcept {
  C* gain = reinterpret_cast<C*>(to);
  std::fill_n(gain, cols, *static_cast<const C*>(gamma));
}

}  // namespace

kernels::Affine prepare_affine(const NormCall& call, DType c, kernels::Target target, double* rows,
                               std::int64_t row_elements) noexcept {
  const parallel::FpEnvironment environment;
  const kernels::ParameterTable& table = *kernels::parameter_table(target);
  const std::int64_t cols = call.x.cols;
  kernels::Affine affine;
  affine.gamma = widened(call.gamma, c, table, rows);
  affine.beta = widened(call.beta, c, table, rows + row_elements);
  affine.gain = affine.gamma;
  double* gain = rows + 2 * row_elements;
  if (call.form.gain == Gain::adaptive) {
    affine.adaptive = true;
    affine.height = call.form.scale;
    affine.slope = call.form.scale * call.form.slope;
  } else if (call.form.gain == Gain::one_plus && affine.gamma != nullptr) {
    affine.add_one = true;
    c == DType::f64 ? add_one<double>(affine.gamma, cols, gain)
                    : add_one<float>(affine.gamma, cols, gain);
    affine.gain = gain;
  } else if (call.form.gain == Gain::scalar && affine.gamma != nullptr && cols > 0) {
    c == DType::f64 ? repeat<double>(affine.gamma, cols, gain)
                    : repeat<float>(affine.gamma, cols, gain);
    affine.gain = affine.gamma = gain;
  }
  return affine;
}

}  // namespace equinorm
