// DyT kernels of every instruction set: y = gamma tanh(alpha x) + beta and its gradients, in f64
// for all types.
#include "targets.h"

#define HWY_TARGET_INCLUDE "dynamic_tanh.cpp"
#include "hwy/foreach_target.h"
// foreach_target first: it includes this file once per target.
#include "kernel_table.h"
#include "rows-inl.h"
#include "tanh-inl.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

void dynamic_tanh_forward(const DynamicTanhArgs& a, std::int64_t begin, std::int64_t end,
                          const Scratch& scratch) {
  const Full<double> d;
  const auto n = static_cast<std::size_t>(a.cols);
  const auto alpha = hn::Set(d, a.alpha);
  for (std::int64_t r = begin; r < end; ++r) {
    const double* x = row_in(a.x, r, n, scratch.row(0));
    double* y = scratch.row(1);
    for_each_vector<double>(n, [=](auto part, std::size_t i) HWY_ATTR {
      const auto z = hn::Mul(alpha, part.load(d, x + i));
      auto t = tanh_from(z, decay_of(z));
      if (a.gamma != nullptr && a.beta != nullptr) {
        t = fma(t, part.load(d, a.gamma + i), part.load(d, a.beta + i));
      } else if (a.gamma != nullptr) {
        t = hn::Mul(t, part.load(d, a.gamma + i));
      } else if (a.beta != nullptr) {
        t = hn::Add(t, part.load(d, a.beta + i));
      }
      hn::Store(t, d, y + i);
    });
    put_row(y, n, a.y, r);
  }
}

void dynamic_tanh_backward(const DynamicTanhArgs& a, std::int64_t begin, std::int64_t end,
                           const GradientSums& sums, const Scratch& scratch) {
  const Full<double> d;
  const auto n = static_cast<std::size_t>(a.cols);
  const auto alpha = hn::Set(d, a.alpha);
  for (std::int64_t r = begin; r < end; ++r) {
    const double* x = row_in(a.x, r, n, scratch.row(0));
    const double* dy = row_in(a.dy, r, n, scratch.row(1));
    double* dx = scratch.row(2);
    for_each_vector<double>(n, [=](auto part, std::size_t i) HWY_ATTR {
      const auto xv = part.load(d, x + i);
      const auto dyv = part.load(d, dy + i);
      const auto z = hn::Mul(alpha, xv);
      const auto e = decay_of(z);
      const auto g = a.gamma != nullptr ? hn::Mul(dyv, part.load(d, a.gamma + i)) : dyv;
      const auto dz = hn::Mul(g, tanh_slope_from(z, e));
      hn::Store(hn::Mul(alpha, dz), d, dx + i);
      const auto add = [&](double* sum, auto p, auto q) HWY_ATTR {
        if (sum != nullptr) hn::Store(fma(p, q, hn::Load(d, sum + i)), d, sum + i);
      };
      add(sums.dgamma, dyv, tanh_from(z, e));
      add(sums.dother, dz, xv);
      if (sums.dbeta != nullptr) {
        hn::Store(hn::Add(hn::Load(d, sums.dbeta + i), dyv), d, sums.dbeta + i);
      }
    });
    if (a.dx.data != nullptr) put_row(dx, n, a.dx, r);
  }
}

const DynamicTanhTable& dynamic_tanh_kernels() {
  static constexpr DynamicTanhTable kTable = {EQUINORM_TARGET, &dynamic_tanh_forward,
                                              &dynamic_tanh_backward};
  return kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace equinorm::kernels {

const DynamicTanhTable* dynamic_tanh_table(Target target) noexcept {
  return EQUINORM_PICK_TABLE(target, dynamic_tanh_kernels);
}

}  // namespace equinorm::kernels
#endif
