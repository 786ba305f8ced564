// Arithmetic on unevaluated pairs h + l of doubles: the notation of section 4 of docs/numerics.md.
//
// The one trap: these are the contract's operations, chosen for bits, not the most accurate ones.
#pragma once

#include <cmath>

namespace equinorm::reference {

struct Dd {
  double h = 0;
  double l = 0;
};

inline Dd two_sum(double a, double b) {
  const double s = a + b;
  const double z = s - a;
  return {s, (a - (s - z)) + (b - z)};
}

inline Dd quick_two_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}

inline Dd two_prod(double a, double b) {
  const double p = a * b;
  return {p, std::fma(a, b, -p)};
}

inline Dd operator-(Dd a) { return {-a.h, -a.l}; }

inline Dd operator+(Dd a, double b) {
  const Dd s = two_sum(a.h, b);
  return quick_two_sum(s.h, s.l + a.l);
}

inline Dd operator+(Dd a, Dd b) {
  const Dd s = two_sum(a.h, b.h);
  return quick_two_sum(s.h, s.l + (a.l + b.l));
}

inline Dd operator*(Dd a, Dd b) {
  const Dd p = two_prod(a.h, b.h);
  return quick_two_sum(p.h, std::fma(a.h, b.l, std::fma(a.l, b.h, p.l)));
}

inline Dd operator/(Dd a, double d) {
  const double q = a.h / d;
  const double r = std::fma(-q, d, a.h) + a.l;
  return quick_two_sum(q, r / d);
}

inline Dd reciprocal_root(Dd v) {
  const double r = 1.0 / std::sqrt(v.h);
  const Dd p = v * two_prod(r, r);
  return quick_two_sum(r, 0.5 * r * ((1.0 - p.h) - p.l));
}

inline Dd reciprocal(Dd v) {
  const double q = 1.0 / v.h;
  return quick_two_sum(q, q * (std::fma(-q, v.h, 1.0) - q * v.l));
}

/// 2^k * a, both parts.
inline Dd scale(Dd a, int k) { return {std::scalbn(a.h, k), std::scalbn(a.l, k)}; }

}  // namespace equinorm::reference
