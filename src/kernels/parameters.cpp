// gamma and beta into the compute type, gradients out of f64, for every instruction set.
#include "targets.h"

#define HWY_TARGET_INCLUDE "parameters.cpp"
#include "hwy/foreach_target.h"
// foreach_target first: it includes this file once per target.
#include "kernel_table.h"
#include "rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

template <class T, class C>
void widen_parameters(const void* from, std::int64_t count, void* to) {
  widen_row(static_cast<const T*>(from), static_cast<std::size_t>(count), static_cast<C*>(to));
}

template <class T>
void narrow_gradient(const double* from, std::int64_t count, void* to) {
  narrow_row(from, static_cast<std::size_t>(count), static_cast<T*>(to));
}

const ParameterTable& parameter_kernels() {
  static constexpr ParameterTable kTable = {
      EQUINORM_TARGET,
      {nullptr, &widen_parameters<float, float>, &widen_parameters<F16, float>,
       &widen_parameters<BF16, float>},
      {&widen_parameters<double, double>, &widen_parameters<float, double>,
       &widen_parameters<F16, double>, &widen_parameters<BF16, double>},
      {&narrow_gradient<double>, &narrow_gradient<float>, &narrow_gradient<F16>,
       &narrow_gradient<BF16>}};
  return kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace equinorm::kernels {

const ParameterTable* parameter_table(Target target) noexcept {
  return EQUINORM_PICK_TABLE(target, parameter_kernels);
}

}  // namespace equinorm::kernels
#endif
