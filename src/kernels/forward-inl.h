// Forward kernels: statistics of the row, then one pass that writes y.
//
// The trap: y may be x itself, so a row's statistics are complete before its first element is
// written, and the exact path widens x before it writes.
#if defined(EQUINORM_KERNELS_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUINORM_KERNELS_FORWARD_INL_H_
#undef EQUINORM_KERNELS_FORWARD_INL_H_
#else
#define EQUINORM_KERNELS_FORWARD_INL_H_
#endif

#include "branch-inl.h"
#include "exact_f64.h"
#include "normalize_row-inl.h"
#include "quantize-inl.h"
#include "row_parameters-inl.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

/// Scratch rows of the forward pass.
enum ForwardRow {
  kForwardX,       // x in C; for C = f64 y before it is narrowed
  kForwardWideX,   // x in f64
  kForwardY,       // y where its rows are not contiguous
  kForwardStream,  // h of a residual stream
  kForwardResidual,
  kForwardKept,  // scale or 0 per element, by dropout
  kForwardGate,
  kForwardParameters,  // RowParameters
  kForwardRowCount = kForwardParameters + RowParameters<float>::kRows,
};
static_assert(kForwardRowCount == kForwardScratchRows);

template <bool kCentered, class C>
HWY_INLINE void save(const SavedStatistics& to, std::int64_t r, const RowStatistics<C>& row,
                     bool exact) {
  if (to.variance != nullptr) {
    to.center[r] = row.center;
    to.variance[r] = row.variance;
  }
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

template <bool kCentered, class C, class TY>
class Forward {
 public:
  HWY_INLINE Forward(const ForwardArgs& a, const Scratch& scratch)
      : a_(a),
        scratch_(scratch),
        n_(static_cast<std::size_t>(a.cols)),
        parameters_(a.affine, a.x.layout, n_, scratch, kForwardParameters),
        gate_(a.branch.gate, n_, scratch.row<C>(kForwardGate)) {}

  HWY_INLINE void run(std::int64_t begin, std::int64_t end) {
    const SavedStatistics& saved = a_.statistics;
    const bool only_y = saved.rstd == nullptr && saved.variance == nullptr &&
                        a_.quantized.kind == Quantization::none;
    if (n_ == 0 && only_y) return;
    for (std::int64_t r = begin; r < end; ++r) {
      RowStatistics<C> statistics;
      bool exact = false;
      if (n_ > 0) {
        parameters_.select(r);
        const C* x = row_of(r);
        if (HWY_UNLIKELY(a_.given.variance != nullptr)) {
          given_row(r, x);
          continue;
        }
        if (!a_.exact) statistics = row_statistics<kCentered>(x, n_, a_.form);
        exact = a_.exact || !statistics.trusted;
        if (exact) {
          statistics = exact_row(r, x);
        } else {
          const Passage<1> passage{{upcoming(a_.x, r + 1 < end ? r + 1 : r)}, a_.stream};
          write(r, x, statistics, parameters_.standard(), passage);
        }
      }
      if (n_ == 0 && a_.quantized.kind != Quantization::none) {
        quantize_row(scratch_.row<C>(kForwardX), n_, a_.quantized, r);
      }
      save<kCentered>(a_.statistics, r, statistics, exact);
    }
  }

 private:
  /// The row to normalize: x, or what the residual stream becomes.
  HWY_INLINE const C* row_of(std::int64_t r) {
    const C* x = row_in(a_.x, r, n_, scratch_.row<C>(kForwardX));
    if (HWY_LIKELY(!a_.branch.any)) return x;
    const Branch& branch = a_.branch;
    const Out& stream = branch.stream;
    // A stream in C takes h as it is.
    const bool direct =
        stream.data != nullptr && stream.type == kTypeOf<C> && stream.layout.is_one_run(a_.cols);
    C* h = direct ? static_cast<C*>(stream.data) + stream.layout.row(r)
                  : scratch_.row<C>(kForwardStream);
    const C* residual = branch.residual.data == nullptr
                            ? nullptr
                            : row_in(branch.residual, r, n_, scratch_.row<C>(kForwardResidual));
    const C* kept = kept_row(branch.dropout, r, n_, scratch_.row<C>(kForwardKept));
    add_branch(x, kept, gate_.select(a_.x.layout.group(r)), residual, n_, h);
    if (direct || stream.data == nullptr) return h;
    put_row(h, n_, stream, r);
    return row_in(In{stream.data, stream.type, stream.layout}, r, n_, h);
  }

  /// y of a row in S, C or on the exact path f64.
  template <class S>
  HWY_INLINE void write(std::int64_t r, const S* x, const RowStatistics<S>& statistics,
                        const GainAndBeta<S>& parameters, const Passage<1>& passage) {
    if (HWY_LIKELY(a_.direct)) {
      normalize_row<kCentered>(x, n_, statistics, a_.affine, parameters, y_of(r), passage);
    } else if constexpr (std::is_same_v<TY, C>) {
      S* y = scratch_.template row<S>(kForwardY);
      normalize_row<kCentered>(x, n_, statistics, a_.affine, parameters, y, Passage<1>());
      if (a_.blend.on) blend_row(x, static_cast<S>(a_.blend.alpha), n_, y);
      put(y, r);
    }
  }

  /// y in scratch memory to where it is wanted.
  template <class S>
  HWY_NOINLINE void put(S* y, std::int64_t r) {
    if (a_.quantized.kind == Quantization::none) return put_row(y, n_, a_.y, r);
    C* row = scratch_.row<C>(kForwardX);
    narrow_row(y, n_, row);
    quantize_row(row, n_, a_.quantized, r);
  }

  TY* y_of(std::int64_t r) const { return static_cast<TY*>(a_.y.data) + a_.y.layout.row(r); }

  /// A row with given statistics: no element has a part in another's result.
  HWY_NOINLINE void given_row(std::int64_t r, const C* narrow) {
    const double* x = row_in(narrow, n_, scratch_.row(kForwardWideX));
    const RowStatistics<double> s = given_statistics<kCentered>(a_.form, a_.given, r);
    write(r, x, s, parameters_.exact(), {});
    if (a_.statistics.variance != nullptr) {
      a_.statistics.center[r] = s.center;
      a_.statistics.variance[r] = s.variance;
    }
  }

  /// Returns the statistics rounded to C.
  HWY_NOINLINE RowStatistics<C> exact_row(std::int64_t r, const C* narrow) {
    const double* x = row_in(narrow, n_, scratch_.row(kForwardWideX));
    const GainAndBeta<double>& parameters = parameters_.exact();
    RowStatistics<C> out;
    if constexpr (sizeof(C) == 4) {
      const RowStatistics<double> s = exact_statistics<kCentered>(x, n_, a_.form);
      write(r, x, s, parameters, {});
      out.mean = static_cast<C>(s.mean);
      out.tail = static_cast<C>(s.tail);
      out.rstd = static_cast<C>(s.rstd);
      out.center = s.center;
      out.variance = s.variance;
    } else {
      const ExactRow row{x, n_, kCentered, a_.form, parameters.gain, &a_.affine};
      double* y = scratch_.row(kForwardY);
      const ExactStatistics s = exact_forward(row, parameters.beta, y);
      if (a_.blend.on) blend_row(x, a_.blend.alpha, n_, y);
      if (a_.direct) {
        narrow_row(y, n_, y_of(r));
      } else {
        put(y, r);
      }
      out.mean = s.mean;
      out.tail = s.tail;
      out.rstd = s.rstd;
      out.center = s.mean;
      out.variance = s.variance;
    }
    return out;
  }

  const ForwardArgs& a_;
  const Scratch& scratch_;
  std::size_t n_;
  RowParameters<C> parameters_;
  GroupRow<C> gate_;
};

template <bool kCentered, class C, class TY>
void forward(const ForwardArgs& a, std::int64_t begin, std::int64_t end, const Scratch& scratch) {
  Forward<kCentered, C, TY>(a, scratch).run(begin, end);
  if (a.stream) hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();
#endif
