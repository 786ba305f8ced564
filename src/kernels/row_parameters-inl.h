// gain and beta of a row: those that all rows share, or those of its group, in C and, when a row
// needs them, in f64 for the exact path.
//
// The trap: for C = f32 the exact gain of 1 + gamma is not the widened f32 gain; the 1 is added in
// f64. Pointers are good until the next select().
#if defined(EQUINORM_KERNELS_ROW_PARAMETERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUINORM_KERNELS_ROW_PARAMETERS_INL_H_
#undef EQUINORM_KERNELS_ROW_PARAMETERS_INL_H_
#else
#define EQUINORM_KERNELS_ROW_PARAMETERS_INL_H_
#endif

#include "rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

/// Null pointers where not given. One element per column, or per segment of columns.
template <class C>
struct GainAndBeta {
  const C* gain = nullptr;
  const C* beta = nullptr;
};

/// A parameter of groups in C, one element per column.
template <class C>
class GroupRow {
 public:
  HWY_INLINE GroupRow(const GroupParameter& parameter, std::size_t cols, C* scratch)
      : parameter_(parameter), cols_(cols), scratch_(scratch) {}

  /// That of `group`, until the next call; null where not given.
  HWY_INLINE const C* select(std::int64_t group) {
    if (parameter_.data != nullptr && group != group_) {
      group_ = group;
      row_ = row_in(parameter_.data, parameter_.type, group * parameter_.stride, cols_, scratch_);
    }
    return row_;
  }

 private:
  const GroupParameter& parameter_;
  std::size_t cols_;
  C* scratch_;
  std::int64_t group_ = -1;
  const C* row_ = nullptr;
};

template <class C>
class RowParameters {
 public:
  /// `scratch` holds kRows rows from `first` on.
  static constexpr int kRows = 4;
  HWY_INLINE RowParameters(const Affine& affine, const Layout& rows, std::size_t cols,
                           const Scratch& scratch, int first)
      : affine_(affine), rows_(rows), scratch_(scratch), first_(first) {
    const auto segment = static_cast<std::size_t>(affine.segment);
    count_ = segment == 0 ? cols : cols / segment;
    if (!affine.grouped) {
      standard_ = {static_cast<const C*>(affine.gain), static_cast<const C*>(affine.beta)};
    }
  }

  /// Of row `r`.
  HWY_INLINE void select(std::int64_t r) {
    if (HWY_UNLIKELY(affine_.grouped)) {
      if (const std::int64_t group = rows_.group(r); group != group_) enter(group);
    }
  }

  const GainAndBeta<C>& standard() const { return standard_; }

  /// Of the row that was selected.
  HWY_NOINLINE const GainAndBeta<double>& exact() {
    if (exact_is_ready_) return exact_;
    exact_is_ready_ = true;
    if constexpr (sizeof(C) == 8) {
      exact_ = standard_;
    } else if (affine_.grouped) {
      exact_.gain = of_group(affine_.group_gamma, scratch_.row(first_ + 2), affine_.add_one);
      exact_.beta = of_group(affine_.group_beta, scratch_.row(first_ + 3), false);
    } else {
      const auto wide = [this](const void* from, double* to, bool add_one) HWY_ATTR {
        if (from == nullptr) return static_cast<const double*>(nullptr);
        widen_row(static_cast<const float*>(from), count_, to);
        return add_one ? plus_one(to, to) : to;
      };
      exact_.gain = wide(affine_.gamma, scratch_.row(first_ + 2), affine_.add_one);
      exact_.beta = wide(affine_.beta, scratch_.row(first_ + 3), false);
    }
    return exact_;
  }

 private:
  HWY_NOINLINE void enter(std::int64_t group) {
    group_ = group;
    exact_is_ready_ = false;
    standard_.gain =
        of_group(affine_.group_gamma, scratch_.template row<C>(first_), affine_.add_one);
    standard_.beta = of_group(affine_.group_beta, scratch_.template row<C>(first_ + 1), false);
  }

  template <class S>
  const S* of_group(const GroupParameter& parameter, S* scratch, bool add_one) const {
    if (parameter.data == nullptr) return nullptr;
    const S* row =
        row_in(parameter.data, parameter.type, group_ * parameter.stride, count_, scratch);
    return add_one ? plus_one(row, scratch) : row;
  }

  template <class S>
  const S* plus_one(const S* from, S* to) const {
    const Full<S> d;
    for_each_vector<S>(count_, [=](auto part, std::size_t i) HWY_ATTR {
      hn::Store(hn::Add(hn::Set(d, S{1}), part.load(d, from + i)), d, to + i);
    });
    return to;
  }

  const Affine& affine_;
  const Layout& rows_;
  const Scratch& scratch_;
  int first_;
  std::size_t count_;
  std::int64_t group_ = -1;
  GainAndBeta<C> standard_;
  GainAndBeta<double> exact_;
  bool exact_is_ready_ = false;
};

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();
#endif
