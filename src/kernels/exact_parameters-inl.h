// gain and beta as the exact path wants them, in f64, made when the first row needs them.
//
// The trap: for C = f32 the gain of 1 + gamma is not the widened f32 gain; the 1 is added in f64.
#if defined(EQUINORM_KERNELS_EXACT_PARAMETERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUINORM_KERNELS_EXACT_PARAMETERS_INL_H_
#undef EQUINORM_KERNELS_EXACT_PARAMETERS_INL_H_
#else
#define EQUINORM_KERNELS_EXACT_PARAMETERS_INL_H_
#endif

#include "rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace equinorm::kernels {
namespace HWY_NAMESPACE {

template <class C>
struct ExactParameters {
  const double* gain = nullptr;
  const double* beta = nullptr;

  HWY_INLINE ExactParameters(const Affine& affine, std::size_t cols, double* for_gain,
                             double* for_beta)
      : affine_(affine), cols_(cols), for_gain_(for_gain), for_beta_(for_beta) {}

  HWY_NOINLINE void prepare() {
    if (ready_) return;
    ready_ = true;
    if constexpr (sizeof(C) == 8) {
      gain = static_cast<const double*>(affine_.gain);
      beta = static_cast<const double*>(affine_.beta);
    } else {
      if (affine_.gamma != nullptr) {
        widen_row(static_cast<const float*>(affine_.gamma), cols_, for_gain_);
        if (affine_.add_one) {
          for (std::size_t i = 0; i < cols_; ++i) for_gain_[i] = 1 + for_gain_[i];
        }
        gain = for_gain_;
      }
      if (affine_.beta != nullptr) {
        widen_row(static_cast<const float*>(affine_.beta), cols_, for_beta_);
        beta = for_beta_;
      }
    }
  }

 private:
  const Affine& affine_;
  std::size_t cols_;
  double* for_gain_;
  double* for_beta_;
  bool ready_ = false;
};

}  // namespace HWY_NAMESPACE
}  // namespace equinorm::kernels
HWY_AFTER_NAMESPACE();
#endif
