// Constants of exp(-a) = 2^-k (1 + p(r)), r = k ln 2 - a.
#pragma once

namespace equinorm::kernels {

inline constexpr double kLog2E = 0x1.71547652b82fep0;
/// ln 2 in two parts; the first has 32 bits, so that k times it is exact.
inline constexpr double kLn2High = 0x1.62e42fee00000p-1;
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
/// 1/2!, 1/3!, ..., 1/14!: |r| <= ln 2 / 2 leaves 2^-64 of r.
inline constexpr int kExpm1Terms = 13;
inline constexpr double kExpm1[kExpm1Terms] = {
    1.0 / 2,         1.0 / 6,          1.0 / 24,         1.0 / 120,     1.0 / 720,
    1.0 / 5040,      1.0 / 40320,      1.0 / 362880,     1.0 / 3628800, 1.0 / 39916800,
    1.0 / 479001600, 1.0 / 6227020800, 1.0 / 87178291200};

}  // namespace equinorm::kernels
