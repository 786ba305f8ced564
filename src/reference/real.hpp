// A 320-bit floating-point number with a practically unlimited exponent, over MPFR.
//
// The one trap: the limbs live inside the object, so it is large (72 bytes) and must be copied
// through MPFR, never by memcpy.
#pragma once

#include <mpfr.h>

#include "equinorm/reference.hpp"

namespace equinorm::truth {

class Real {
 public:
  static constexpr mpfr_prec_t kBits = 320;

  Real() { mpfr_custom_init_set(v_, MPFR_ZERO_KIND, 0, kBits, limbs_); }
  Real(double value) : Real() { mpfr_set_d(v_, value, MPFR_RNDN); }
  explicit Real(const Value& value) : Real(value.hi) {
    mpfr_add_d(v_, v_, value.lo, MPFR_RNDN);
    mpfr_mul_2si(v_, v_, static_cast<long>(value.exponent), MPFR_RNDN);
  }
  Real(const Real& other) : Real() { mpfr_set(v_, other.v_, MPFR_RNDN); }
  Real& operator=(const Real& other) {
    mpfr_set(v_, other.v_, MPFR_RNDN);
    return *this;
  }

  Real& operator+=(const Real& b) {
    mpfr_add(v_, v_, b.v_, MPFR_RNDN);
    return *this;
  }
  /// Adds a * b.
  Real& add_product(const Real& a, const Real& b) {
    mpfr_fma(v_, a.v_, b.v_, v_, MPFR_RNDN);
    return *this;
  }

  [[nodiscard]] bool is_zero() const { return mpfr_zero_p(v_) != 0; }
  [[nodiscard]] bool is_finite() const { return mpfr_number_p(v_) != 0; }

  friend Real operator+(const Real& a, const Real& b) { return apply(mpfr_add, a, b); }
  friend Real operator-(const Real& a, const Real& b) { return apply(mpfr_sub, a, b); }
  friend Real operator*(const Real& a, const Real& b) { return apply(mpfr_mul, a, b); }
  friend Real operator/(const Real& a, const Real& b) { return apply(mpfr_div, a, b); }
  friend Real max(const Real& a, const Real& b) { return apply(mpfr_max, a, b); }

  friend Real abs(const Real& a) { return apply(mpfr_abs, a); }
  friend Real root(const Real& a) { return apply(mpfr_sqrt, a); }
  friend Real reciprocal_root(const Real& a) { return apply(mpfr_rec_sqrt, a); }

  friend Real exp(const Real& a) { return apply(mpfr_exp, a); }
  friend Real tanh(const Real& a) { return apply(mpfr_tanh, a); }

  friend bool operator>(const Real& a, const Real& b) { return mpfr_greater_p(a.v_, b.v_) != 0; }

  [[nodiscard]] Value value() const {
    if (!is_finite() || is_zero()) return {mpfr_get_d(v_, MPFR_RNDN), 0, 0};
    Value result;
    long exponent = 0;
    result.hi = mpfr_get_d_2exp(&exponent, v_, MPFR_RNDN);
    Real rest;
    mpfr_mul_2si(rest.v_, v_, -exponent, MPFR_RNDN);
    mpfr_sub_d(rest.v_, rest.v_, result.hi, MPFR_RNDN);
    result.lo = mpfr_get_d(rest.v_, MPFR_RNDN);
    result.exponent = exponent;
    return result;
  }

 private:
  template <class Operation, class... Arguments>
  static Real apply(Operation operation, const Arguments&... arguments) {
    Real result;
    operation(result.v_, arguments.v_..., MPFR_RNDN);
    return result;
  }

  mpfr_t v_;
  mp_limb_t limbs_[(kBits + GMP_NUMB_BITS - 1) / GMP_NUMB_BITS];
};

}  // namespace equinorm::truth
