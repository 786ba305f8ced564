// Forward kernels of LayerNorm and RMSNorm: statistics of the row, then one pass that writes y.
//
// The trap: y may be x itself, so a row's statistics are complete before its first element is
// written, and the exact path widens x before it writes.
#if defined(EQUINORM_KERNELS_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUINORM_KERNELS_FORWARD_INL_H_
#undef EQUINORM_KERNELS_FORWARD_INL_H_
#else
#define EQUINORM_KERNELS_FORWARD_INL_H_
#endif

#include "exact_f64.h"
#include "exact_parameters-inl.h"
#include "normalize_row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

template <bool kCentered, class C>
HWY_INLINE void save(const SavedStatistics& to, std::int64_t r, const RowStatistics<C>& row,
                     bool exact) {
  if (to.rstd == nullptr) return;
  const auto put = [r](void* where, C v) {
    static_cast<C*>(where)[r] = v == v ? v : std::numeric_limits<C>::quiet_NaN();
  };
  if (kCentered) {
    put(to.mean, row.mean);
    put(to.mean_tail, row.tail);
  }
  put(to.rstd, row.rstd);
  to.exact[r] = exact ? 1 : 0;
}

/// One row on the exact path; returns its statistics rounded to C. Scratch row 0 may hold x.
template <bool kCentered, class C, class TY>
HWY_NOINLINE RowStatistics<C> exact_forward_row(const ForwardArgs& a, std::int64_t r, TY* y,
                                                const ExactParameters<C>& parameters,
                                                const Scratch& scratch) {
  const std::size_t n = static_cast<std::size_t>(a.cols);
  const double* x = row_in(a.x, a.x_type, r * a.x_stride, n, scratch.row(1));
  RowStatistics<C> out;
  if constexpr (sizeof(C) == 4) {
    const RowStatistics<double> s = exact_statistics<kCentered>(x, n, a.form);
    with_gain<kCentered>(a.affine, parameters.gain, [&](auto gain) HWY_ATTR {
      normalize_row<kCentered>(x, n, s, gain, parameters.beta, y);
    });
    out.mean = static_cast<C>(s.mean);
    out.tail = static_cast<C>(s.tail);
    out.rstd = static_cast<C>(s.rstd);
  } else {
    const ExactRow row{x, n, kCentered, a.form, parameters.gain, &a.affine};
    const ExactStatistics s = exact_forward(row, parameters.beta, scratch.row(0));
    narrow_row(scratch.row(0), n, y);
    out.mean = s.mean;
    out.tail = s.tail;
    out.rstd = s.rstd;
  }
  return out;
}

template <bool kCentered, class C, class TY>
void forward(const ForwardArgs& a, std::int64_t begin, std::int64_t end, const Scratch& scratch) {
  const std::size_t n = static_cast<std::size_t>(a.cols);
  if (n == 0 && a.statistics.rstd == nullptr) return;
  const C* beta = static_cast<const C*>(a.affine.beta);
  ExactParameters<C> parameters(a.affine, n, scratch.row(2), scratch.row(3));
  for (std::int64_t r = begin; r < end; ++r) {
    if (n == 0) {
      save<kCentered>(a.statistics, r, RowStatistics<C>(), false);
      continue;
    }
    TY* y = static_cast<TY*>(a.y) + r * a.y_stride;
    RowStatistics<C> statistics;
    bool exact = a.exact;
    if (!exact) {
      const C* row = row_in(a.x, a.x_type, r * a.x_stride, n, scratch.row<C>(0));
      statistics = row_statistics<kCentered>(row, n, a.form);
      exact = !statistics.trusted;
      if (!exact) {
        const std::int64_t next = r + 1 < end ? r + 1 : r;
        const Passage<1> passage{{upcoming(a.x, a.x_type, next, a.x_stride)}, a.stream};
        with_gain<kCentered>(a.affine, static_cast<const C*>(a.affine.gain),
                             [&](auto gain) HWY_ATTR {
                               normalize_row<kCentered>(row, n, statistics, gain, beta, y, passage);
                             });
      }
    }
    if (exact) {
      parameters.prepare();
      statistics = exact_forward_row<kCentered, C>(a, r, y, parameters, scratch);
    }
    save<kCentered>(a.statistics, r, statistics, exact);
  }
  if (a.stream) hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();
#endif
