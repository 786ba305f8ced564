// One row in standard mode and its trust: sections 3 and 4 of docs/numerics.md.
//
// With C = double the same functions are the exact path of f32 rows, where only "rstd = 0 if
// var + eps <= 0" differs. The one trap: `centred` tells LayerNorm from RMSNorm, which never
// subtracts a mean.
#pragma once

#include <vector>

namespace equinorm::reference {

/// Statistics of a row. The mean is mean + tail, 0 for RMSNorm.
template <class C>
struct Statistics {
  C mean = 0;
  C tail = 0;
  C rstd = 0;
  bool trusted = true;
};

template <class C>
Statistics<C> layer_norm_statistics(const std::vector<C>& x, double eps);

template <class C>
Statistics<C> rms_norm_statistics(const std::vector<C>& x, double eps);

template <class C>
std::vector<C> normalize(const std::vector<C>& x, const Statistics<C>& statistics, bool centred);

/// fma(xhat, gamma, beta), or what is left of it without gamma or beta (null).
template <class C>
C scale_and_shift(C xhat, const C* gamma, const C* beta);

/// dx of a row, and whether the row may be trusted with it.
template <class C>
struct Gradient {
  std::vector<C> dx;
  bool trusted = true;
};

/// `gain` is empty where there is none.
template <class C>
Gradient<C> input_gradient(const std::vector<C>& dy, const std::vector<C>& gain,
                           const std::vector<C>& xhat, C rstd, bool centred);

}  // namespace equinorm::reference
