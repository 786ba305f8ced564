#include "parameters.h"

#include <algorithm>

#include "kernels/kernel_table.h"
#include "parallel/fp_environment.h"

namespace equinorm {
namespace {

const void* widened(const ConstGroupedVector& v, DType c, const kernels::ParameterTable& table,
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

kernels::Affine prepare_affine(const NormCall& call, const Sharing& sharing, DType c,
                               kernels::Target target, double* rows,
                               std::int64_t row_elements) noexcept {
  kernels::Affine affine;
  if (call.form.gain == Gain::adaptive) {
    affine.adaptive = true;
    affine.height = call.form.scale;
    affine.slope = call.form.scale * call.form.slope;
    return affine;
  }
  affine.add_one = call.form.gain == Gain::one_plus && call.gamma.data != nullptr;
  if (sharing.grouped) {
    affine.grouped = true;
    affine.segment = sharing.segment;
    affine.group_gamma = kernel_parameter(call.gamma);
    affine.group_beta = kernel_parameter(call.beta);
    return affine;
  }
  const parallel::FpEnvironment environment;
  const kernels::ParameterTable& table = *kernels::parameter_table(target);
  const std::int64_t cols = call.cols();
  affine.gamma = widened(call.gamma, c, table, rows);
  affine.beta = widened(call.beta, c, table, rows + row_elements);
  affine.gain = affine.gamma;
  double* gain = rows + 2 * row_elements;
  if (affine.add_one) {
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

std::int64_t row_elements(const NormCall& call, const Sharing& sharing) noexcept {
  return kernels::Scratch::padded(
      std::max({call.cols(), sharing.size, call.gamma.size, call.beta.size}));
}

std::int64_t given_elements(const NormCall& call) noexcept {
  return call.given.variance.data == nullptr
             ? 0
             : 2 * kernels::Scratch::padded(call.given.variance.size);
}

kernels::Given prepare_given(const NormCall& call, kernels::Target target, double* to) noexcept {
  kernels::Given given;
  if (call.given.variance.data == nullptr) return given;
  const parallel::FpEnvironment environment;
  const kernels::ParameterTable& table = *kernels::parameter_table(target);
  const auto widen = [&](const ConstVector& v, double* place) noexcept -> const double* {
    if (v.data == nullptr) return nullptr;
    table.to_f64[static_cast<int>(v.dtype)](v.data, v.size, place);
    return place;
  };
  given.rows = call.x.at.groups == call.given.variance.size ? call.x.at.rows : 1;
  given.variance = widen(call.given.variance, to);
  given.mean = widen(call.given.mean, to + kernels::Scratch::padded(call.given.variance.size));
  return given;
}

}  // namespace equinorm
