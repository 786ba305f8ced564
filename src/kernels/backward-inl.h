// Backward kernels: one block of up to 8 rows, whose gradients of the parameters are summed here
// (docs/numerics.md section 5).
//
// The trap: whether a block sums in f64 is known only after its last row, so it may be read again;
// src/api calls twice, first without dx, where dx overlaps the inputs.
#if defined(EQUINORM_KERNELS_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUINORM_KERNELS_BACKWARD_INL_H_
#undef EQUINORM_KERNELS_BACKWARD_INL_H_
#else
#define EQUINORM_KERNELS_BACKWARD_INL_H_
#endif

#include "branch-inl.h"
#include "exact_f64.h"
#include "gradient_row-inl.h"
#include "normalize_row-inl.h"
#include "row_parameters-inl.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

/// Scratch rows of a block.
enum BlockRow {
  kRowX,       // x in C
  kRowDy,      // dy in C
  kRowWideX,   // x in f64; for C = f64 dx before it is narrowed
  kRowWideDy,  // dy in f64
  kRowXhat,    // xhat of the exact path
  kRowDx,      // dx where it is not wanted or its rows are not contiguous
  kRowDgamma,  // sums of the block, or the terms of a row
  kRowDbeta,
  kRowGate,        // in C
  kRowKept,        // scale or 0 per element, by dropout
  kRowBranch,      // another row of the residual stream
  kRowWide,        // one in f64
  kRowParameters,  // RowParameters
  kRowCount = kRowParameters + RowParameters<float>::kRows,
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
        segment_(static_cast<std::size_t>(a.affine.segment)),
        sum_(sums.dgamma != nullptr || sums.dbeta != nullptr),
        parameters_(a.affine, a.x.layout, n_, scratch, kRowParameters),
        gate_(a.branch.gate, n_, scratch.row<C>(kRowGate)) {
    if (sum_ && segment_ == 0) clear_sums<C>();
  }

  HWY_INLINE void run(std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      parameters_.select(r);
      const GradientRow<C> row = row_of(r);
      RowStatistics<C>& s = statistics_[r - begin];
      s = statistics_of_row(r, row.x);
      if (s.trusted) s.trusted = trusted_row(r, row, s);
      if (HWY_UNLIKELY(a_.given.variance != nullptr)) {
        given_row(r, row);
      } else if (!s.trusted) {
        exact_row(r, row);
      }
      any_exact_ = any_exact_ || !s.trusted;
      if (sum_ && segment_ != 0) add_segments_to_chunk();
    }
    if (sum_ && segment_ == 0) add_to_chunk(begin, end);
  }

 private:
  GradientRow<C> row_of(std::int64_t r) const {
    return {row_in(a_.x, r, n_, scratch_.row<C>(kRowX)),
            row_in(a_.dy, r, n_, scratch_.row<C>(kRowDy)), n_};
  }

  /// Calls write(dx) with where dx of a row is to be written, and sees to what must happen then.
  template <class S, class Write>
  HWY_INLINE void emit(std::int64_t r, Write write) const {
    if (a_.dx.data == nullptr && !a_.branch.any) {
      write(scratch_.row<TX>(kRowDx));
    } else if (HWY_LIKELY(a_.direct)) {
      write(static_cast<TX*>(a_.dx.data) + a_.dx.layout.row(r));
    } else if constexpr (std::is_same_v<TX, C>) {
      S* row = scratch_.template row<S>(kRowDx);
      write(row);
      if (a_.branch.any) into_branch(row, r);
      if (a_.dx.data != nullptr) put_row(row, n_, a_.dx, r);
    }
  }

  /// Adds what comes through the residual stream to `gradient` and hands the branch its share.
  template <class S>
  HWY_NOINLINE void into_branch(S* gradient, std::int64_t r) const {
    const BranchGradient& branch = a_.branch;
    S* row = scratch_.template row<S>(kRowBranch);
    if (branch.dstream.data != nullptr) {
      add_to_row(row_in(branch.dstream, r, n_, row), n_, gradient);
    }
    if (branch.blend.on) {
      const S* dy = row_in(a_.dy, r, n_, row);
      add_scaled_row(1 - static_cast<S>(branch.blend.alpha), dy, n_, gradient);
    }
    const C* narrow_gate = gate_.select(a_.x.layout.group(r));
    if (branch.dx.data != nullptr) {
      const S* gate = narrow_gate == nullptr
                          ? nullptr
                          : row_in(narrow_gate, n_, scratch_.template row<S>(kRowWide));
      const S* kept = kept_row(branch.dropout, r, n_, scratch_.template row<S>(kRowKept));
      branch_gradient(gradient, gate, kept, n_, row);
      put_row(row, n_, branch.dx, r);
    }
    if (sums_.dother != nullptr && branch.blend.on) {
      const double* dy = row_in(a_.dy, r, n_, scratch_.row(kRowBranch));
      add_products(dy, row_in(a_.x, r, n_, scratch_.row(kRowWide)), n_, sums_.dother);
    } else if (sums_.dother != nullptr) {
      const C* kept = kept_row(branch.dropout, r, n_, scratch_.row<C>(kRowKept));
      C* b = scratch_.row<C>(kRowBranch);
      add_branch(row_in(branch.x, r, n_, b), kept, static_cast<const C*>(nullptr),
                 static_cast<const C*>(nullptr), n_, b);
      const double* wide = row_in(gradient, n_, scratch_.row(kRowWide));
      add_products(wide, row_in(b, n_, scratch_.row(kRowKept)), n_, sums_.dother);
    }
  }

  Passage<2> passage_of(std::int64_t r) const {
    const std::int64_t next = r + 1 < a_.rows ? r + 1 : r;
    return {{upcoming(a_.x, next), upcoming(a_.dy, next)}, a_.stream && a_.direct};
  }

  template <class T>
  void clear_sums() const {
    fill_row(T{0}, n_, scratch_.row<T>(kRowDgamma));
    fill_row(T{0}, n_, scratch_.row<T>(kRowDbeta));
  }

  RowStatistics<C> statistics_of_row(std::int64_t r, const C* x) const {
    RowStatistics<C> s;
    if (a_.exact || a_.given.variance != nullptr ||
        (a_.statistics.exact != nullptr && a_.statistics.exact[r] != 0)) {
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
    const C* gain_row = parameters_.standard().gain;
    if (HWY_UNLIKELY(segment_ != 0 && gain_row != nullptr)) {
      const Moments<C> m = moments_by_segment(row, gain_row, s);
      if (m.trusted) {
        emit<C>(r, [&](auto* dx) HWY_ATTR {
          write_dx_segments<kCentered>(row, gain_row, segment_, s, m, dx);
        });
      }
      return m.trusted;
    }
    return with_gain<kCentered>(a_.affine, gain_row, [&](auto gain) HWY_ATTR {
      const Moments<C> m = row_moments<kCentered>(row, gain, s, a_.form);
      if (!m.trusted) return false;
      Terms<C> terms;
      if (segment_ != 0) {
        terms_without_gain(row, s);
      } else {
        if (sum_) terms.dgamma = scratch_.row<C>(kRowDgamma);
        if (sums_.dbeta != nullptr) terms.dbeta = scratch_.row<C>(kRowDbeta);
      }
      emit<C>(r, [&](auto* dx) HWY_ATTR {
        write_gradient<kCentered>(row, gain, s, m, dx, terms, passage_of(r));
      });
      return true;
    });
  }

  template <class S>
  Moments<S> moments_by_segment(const GradientRow<S>& row, const S* gain,
                                const RowStatistics<S>& s) const {
    return segment_moments<kCentered>(row, gain, segment_, s, a_.form, scratch_.row(kRowDgamma),
                                      scratch_.row(kRowDbeta));
  }

  /// Terms of a row by segments where no gain weighs them: in f64, as they decide nothing.
  template <class S>
  HWY_NOINLINE void terms_without_gain(const GradientRow<S>& row, const RowStatistics<S>& s) const {
    if (!sum_) return;
    S* narrow = scratch_.template row<S>(kRowDx);
    write_xhat<kCentered>(row.x, n_, s, narrow);
    const double* xhat = row_in(narrow, n_, scratch_.row(kRowXhat));
    const double* dy = row_in(row.dy, n_, scratch_.row(kRowWideDy));
    segment_terms(dy, xhat, n_, segment_, scratch_.row(kRowDgamma), scratch_.row(kRowDbeta));
  }

  /// Writes dx of a row on the exact path. Its terms are added by sum_again, or here for C = f64
  /// and for segments.
  HWY_NOINLINE void exact_row(std::int64_t r, const GradientRow<C>& narrow) {
    const double* gain_row = parameters_.exact().gain;
    if constexpr (sizeof(C) == 8) {
      double* dx = scratch_.row(kRowWideX);
      double* xhat = scratch_.row(kRowXhat);
      exact_backward({narrow.x, n_, kCentered, a_.form, gain_row, &a_.affine}, narrow.dy, dx, xhat);
      double* dgamma = scratch_.row(kRowDgamma);
      double* dbeta = scratch_.row(kRowDbeta);
      if (segment_ != 0) {
        segment_terms(narrow.dy, xhat, n_, segment_, dgamma, dbeta);
      } else if (sum_) {
        add_terms(narrow.dy, xhat, n_, dgamma, dbeta);
      }
      emit<double>(r, [&](auto* to) HWY_ATTR { narrow_row(dx, n_, to); });
    } else {
      const GradientRow<double> row{row_in(narrow.x, n_, scratch_.row(kRowWideX)),
                                    row_in(narrow.dy, n_, scratch_.row(kRowWideDy)), n_};
      const RowStatistics<double> s = exact_statistics<kCentered>(row.x, n_, a_.form);
      if (segment_ != 0 && gain_row == nullptr) terms_without_gain(row, s);
      if (segment_ != 0 && gain_row != nullptr) {
        const Moments<double> m = moments_by_segment(row, gain_row, s);
        exact_dx(r, m, [&](auto* dx) HWY_ATTR {
          write_dx_segments<kCentered>(row, gain_row, segment_, s, m, dx);
        });
      } else {
        with_gain<kCentered>(a_.affine, gain_row, [&](auto gain) HWY_ATTR {
          const Moments<double> m = row_moments<kCentered>(row, gain, s, a_.form);
          exact_dx(r, m, [&](auto* dx) HWY_ATTR {
            write_dx<kCentered, 0>(row, gain, s, m, dx, {}, passage_of(r));
          });
        });
      }
    }
  }

  template <class Write>
  HWY_INLINE void exact_dx(std::int64_t r, const Moments<double>& m, Write write) const {
    if (m.finite) return emit<double>(r, write);
    // Widened f32 values give sums that are not finite only from an x or g that is not.
    double* nan = scratch_.row(kRowXhat);
    fill_row(std::numeric_limits<double>::quiet_NaN(), n_, nan);
    emit<double>(r, [&](auto* dx) HWY_ATTR { narrow_row(nan, n_, dx); });
  }

  /// Statistics of a row that is not trusted, in f64.
  RowStatistics<double> wide_statistics(std::int64_t r, const double* x) const {
    if (a_.given.variance != nullptr) return given_statistics<kCentered>(a_.form, a_.given, r);
    return exact_statistics<kCentered>(x, n_, a_.form);
  }

  /// A row with given statistics: dx = (dy * gain) * rstd in f64. Its terms are added here where
  /// sum_again does not.
  HWY_NOINLINE void given_row(std::int64_t r, const GradientRow<C>& narrow) {
    const double* x = row_in(narrow.x, n_, scratch_.row(kRowWideX));
    const double* dy = row_in(narrow.dy, n_, scratch_.row(kRowWideDy));
    const RowStatistics<double> s = given_statistics<kCentered>(a_.form, a_.given, r);
    if (sum_ && (sizeof(C) == 8 || segment_ != 0)) {
      double* xhat = scratch_.row(kRowXhat);
      write_xhat<kCentered>(x, n_, s, xhat);
      double* dgamma = scratch_.row(kRowDgamma);
      double* dbeta = scratch_.row(kRowDbeta);
      segment_ != 0 ? segment_terms(dy, xhat, n_, segment_, dgamma, dbeta)
                    : add_terms(dy, xhat, n_, dgamma, dbeta);
    }
    const double* gain = parameters_.exact().gain;
    emit<double>(r, [&](auto* dx) HWY_ATTR {
      const std::size_t part = segment_ == 0 || gain == nullptr ? n_ : segment_;
      for (std::size_t k = 0, i = 0; i < n_; ++k, i += part) {
        if (gain == nullptr) {
          write_scaled(dy + i, part, NoGain(), s.rstd, dx + i);
        } else if (segment_ == 0) {
          write_scaled(dy + i, part, VectorGain<double>{gain}, s.rstd, dx + i);
        } else {
          write_scaled(dy + i, part, UniformGain<double>(gain[k]), s.rstd, dx + i);
        }
      }
    });
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
        write_xhat<kCentered>(row.x, n_, s, narrow);
        widen_row(narrow, n_, xhat);
      } else {
        const double* x = row_in(row.x, n_, scratch_.row(kRowWideX));
        write_xhat<kCentered>(x, n_, wide_statistics(r, x), xhat);
      }
      const double* dy = row_in(row.dy, n_, scratch_.row(kRowWideDy));
      add_terms(dy, xhat, n_, scratch_.row(kRowDgamma), scratch_.row(kRowDbeta));
    }
  }

  void add_segments_to_chunk() const {
    const std::size_t count = n_ / segment_;
    if (sums_.dgamma != nullptr) add_row(scratch_.row(kRowDgamma), count, sums_.dgamma);
    if (sums_.dbeta != nullptr) add_row(scratch_.row(kRowDbeta), count, sums_.dbeta);
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
  std::size_t segment_;
  bool sum_;
  bool any_exact_ = false;
  RowParameters<C> parameters_;
  mutable GroupRow<C> gate_;
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
