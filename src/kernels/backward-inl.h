// Backward kernels of LayerNorm and RMSNorm: one block of up to 8 rows, whose gradients of the
// parameters are summed here (docs/numerics.md section 5).
//
// The trap: whether a block sums in f64 is known only after its last row, so it may be read again;
// src/api calls twice, first without dx, where dx overlaps the inputs.
#if defined(EQUINORM_KERNELS_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUINORM_KERNELS_BACKWARD_INL_H_
#undef EQUINORM_KERNELS_BACKWARD_INL_H_
#else
#define EQUINORM_KERNELS_BACKWARD_INL_H_
#endif

#include "exact_f64.h"
#include "exact_parameters-inl.h"
#include "gradient_row-inl.h"
#include "normalize_row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

/// Scratch rows of a block.
enum BlockRow {
  kRowX,       // x in C
  kRowDy,      // dy in C
  kRowWideX,   // x in f64; for C = f64 dx before it is narrowed
  kRowWideDy,  // dy in f64
  kRowGain,    // gain and beta of the exact path
  kRowBeta,
  kRowXhat,    // xhat of the exact path
  kRowDx,      // dx where it is not wanted
  kRowDgamma,  // sums of the block
  kRowDbeta,
  kRowCount,
};
static_assert(kRowCount == kBackwardScratchRows);

template <bool kCentered, class C, class TX>
class Block {
 public:
  HWY_INLINE Block(const BackwardArgs& a, const GradientSums& sums, const Scratch& scratch)
      : a_(a),
        sums_(sums),
        scratch_(scratch),
        n_(static_cast<std::size_t>(a.cols)),
        sum_(sums.dgamma != nullptr || sums.dbeta != nullptr),
        parameters_(a.affine, n_, scratch.row(kRowGain), scratch.row(kRowBeta)) {
    if (sum_) clear_sums<C>();
  }

  HWY_INLINE void run(std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const GradientRow<C> row = row_of(r);
      RowStatistics<C>& s = statistics_[r - begin];
      s = statistics_of(r, row.x);
      if (s.trusted) s.trusted = trusted_row(r, row, s);
      if (!s.trusted) exact_row(r, row);
      any_exact_ = any_exact_ || !s.trusted;
    }
    if (sum_) add_to_chunk(begin, end);
  }

 private:
  GradientRow<C> row_of(std::int64_t r) const {
    return {row_in(a_.x, a_.x_type, r * a_.x_stride, n_, scratch_.row<C>(kRowX)),
            row_in(a_.dy, a_.dy_type, r * a_.dy_stride, n_, scratch_.row<C>(kRowDy)), n_};
  }

  TX* dx_of(std::int64_t r) const {
    return a_.dx == nullptr ? scratch_.row<TX>(kRowDx) : static_cast<TX*>(a_.dx) + r * a_.dx_stride;
  }

  Passage<2> passage_of(std::int64_t r) const {
    const std::int64_t next = r + 1 < a_.rows ? r + 1 : r;
    return {{upcoming(a_.x, a_.x_type, next, a_.x_stride),
             upcoming(a_.dy, a_.dy_type, next, a_.dy_stride)},
            a_.stream};
  }

  template <class T>
  void clear_sums() const {
    fill_row(T{0}, n_, scratch_.row<T>(kRowDgamma));
    fill_row(T{0}, n_, scratch_.row<T>(kRowDbeta));
  }

  RowStatistics<C> statistics_of(std::int64_t r, const C* x) const {
    RowStatistics<C> s;
    if (a_.exact || (a_.statistics.exact != nullptr && a_.statistics.exact[r] != 0)) {
      s.trusted = false;
    } else if (a_.statistics.rstd == nullptr) {
      s = row_statistics<kCentered>(x, n_, a_.form);
    } else {
      if constexpr (kCentered) {
        s.mean = static_cast<const C*>(a_.statistics.mean)[r];
        s.tail = static_cast<const C*>(a_.statistics.mean_tail)[r];
      }
      s.rstd = static_cast<const C*>(a_.statistics.rstd)[r];
      if (a_.form.detach_spread) s.pull = 0;
    }
    return s;
  }

  /// Writes dx and adds the row's terms, unless its moments cannot be trusted.
  bool trusted_row(std::int64_t r, const GradientRow<C>& row, const RowStatistics<C>& s) const {
    return with_gain<kCentered>(
        a_.affine, static_cast<const C*>(a_.affine.gain), [&](auto gain) HWY_ATTR {
          const Moments<C> m = row_moments<kCentered>(row, gain, s, a_.form);
          if (!m.trusted) return false;
          Terms<C> terms;
          if (sum_) terms.dgamma = scratch_.row<C>(kRowDgamma);
          if (sums_.dbeta != nullptr) terms.dbeta = scratch_.row<C>(kRowDbeta);
          write_gradient<kCentered>(row, gain, s, m, dx_of(r), terms, passage_of(r));
          return true;
        });
  }

  /// Writes dx of a row on the exact path. Its terms are added by sum_again, or here for C = f64.
  HWY_NOINLINE void exact_row(std::int64_t r, const GradientRow<C>& narrow) {
    parameters_.prepare();
    if constexpr (sizeof(C) == 8) {
      double* dx = scratch_.row(kRowWideX);
      double* xhat = scratch_.row(kRowXhat);
      exact_backward({narrow.x, n_, kCentered, a_.form, parameters_.gain, &a_.affine}, narrow.dy,
                     dx, xhat);
      if (sum_) add_terms(narrow.dy, xhat, n_, scratch_.row(kRowDgamma), scratch_.row(kRowDbeta));
      narrow_row(dx, n_, dx_of(r));
    } else {
      const GradientRow<double> row{row_in(narrow.x, n_, scratch_.row(kRowWideX)),
                                    row_in(narrow.dy, n_, scratch_.row(kRowWideDy)), n_};
      const RowStatistics<double> s = exact_statistics<kCentered>(row.x, n_, a_.form);
      with_gain<kCentered>(a_.affine, parameters_.gain,
                           [&](auto gain) HWY_ATTR { exact_dx(r, row, gain, s); });
    }
  }

  template <class Gain>
  HWY_NOINLINE void exact_dx(std::int64_t r, const GradientRow<double>& row, Gain gain,
                             const RowStatistics<double>& s) const {
    const Moments<double> m = row_moments<kCentered>(row, gain, s, a_.form);
    if (m.finite) {
      write_dx<kCentered, 0>(row, gain, s, m, dx_of(r), {}, passage_of(r));
    } else {
      // Widened f32 values give sums that are not finite only from an x or g that is not.
      double* nan = scratch_.row(kRowXhat);
      fill_row(std::numeric_limits<double>::quiet_NaN(), n_, nan);
      narrow_row(nan, n_, dx_of(r));
    }
  }

  /// C = f32: the sums of the block in f64, with xhat in f64 for rows on the exact path.
  HWY_NOINLINE void sum_again(std::int64_t begin, std::int64_t end) const {
    double* xhat = scratch_.row(kRowXhat);
    clear_sums<double>();
    for (std::int64_t r = begin; r < end; ++r) {
      const GradientRow<C> row = row_of(r);
      const RowStatistics<C>& s = statistics_[r - begin];
      if (s.trusted) {
        C* narrow = scratch_.row<C>(kRowDx);
        normalize_row<kCentered, C>(row.x, n_, s, NoGain(), nullptr, narrow);
        widen_row(narrow, n_, xhat);
      } else {
        const double* x = row_in(row.x, n_, scratch_.row(kRowWideX));
        const RowStatistics<double> wide = exact_statistics<kCentered>(x, n_, a_.form);
        normalize_row<kCentered, double>(x, n_, wide, NoGain(), nullptr, xhat);
      }
      const double* dy = row_in(row.dy, n_, scratch_.row(kRowWideDy));
      add_terms(dy, xhat, n_, scratch_.row(kRowDgamma), scratch_.row(kRowDbeta));
    }
  }

  void add_to_chunk(std::int64_t begin, std::int64_t end) const {
    bool again_dgamma = false, again_dbeta = false;
    const C* dgamma = scratch_.row<C>(kRowDgamma);
    const C* dbeta = scratch_.row<C>(kRowDbeta);
    if constexpr (sizeof(C) == 4) {
      again_dgamma = sums_.dgamma != nullptr && (any_exact_ || !row_is_finite(dgamma, n_));
      again_dbeta = sums_.dbeta != nullptr && (any_exact_ || !row_is_finite(dbeta, n_));
    }
    if (sums_.dgamma != nullptr && !again_dgamma) add_row(dgamma, n_, sums_.dgamma);
    if (sums_.dbeta != nullptr && !again_dbeta) add_row(dbeta, n_, sums_.dbeta);
    if constexpr (sizeof(C) == 4) {
      if (!again_dgamma && !again_dbeta) return;
      sum_again(begin, end);
      if (again_dgamma) add_row(scratch_.row(kRowDgamma), n_, sums_.dgamma);
      if (again_dbeta) add_row(scratch_.row(kRowDbeta), n_, sums_.dbeta);
    }
  }

  const BackwardArgs& a_;
  const GradientSums& sums_;
  const Scratch& scratch_;
  std::size_t n_;
  bool sum_;
  bool any_exact_ = false;
  ExactParameters<C> parameters_;
  RowStatistics<C> statistics_[kBlockRows];
};

template <bool kCentered, class C, class TX>
void backward(const BackwardArgs& a, std::int64_t begin, std::int64_t end, const GradientSums& sums,
              const Scratch& scratch) {
  Block<kCentered, C, TX>(a, sums, scratch).run(begin, end);
  if (a.stream) hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();
#endif
